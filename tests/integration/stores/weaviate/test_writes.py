"""A write whose caller is cancelled, or gives up, leaves nothing out of the vector index."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from weaviate.classes.data import DataObject
from weaviate.collections.classes.batch import BatchObject, BatchObjectReturn, ErrorObject
from weaviate.exceptions import WeaviateInsertManyAllFailedError

from perdure.errors import StoreUnavailable
from perdure.plurals import counted
from perdure.refusals import ContentRefused
from perdure.stores.weaviate import writes
from perdure.stores.weaviate.connection import answered_within
from perdure.stores.weaviate.mapping import properties_of
from perdure.stores.weaviate.store import LongTerm
from perdure.stores.weaviate.writes import Writes
from perdure.values.entries import Entry
from tests.conftest import Servers
from tests.integration.stores.weaviate.test_store import EMBEDDER, EMBEDDING, memory
from tests.support.cutting import collection_of

DELAYS = [number / 1000 for number in range(1, 21)]
"""Seconds after which the caller goes: a write of 100 takes 20 to 50 ms."""


@pytest.fixture
async def longterm(servers: Servers) -> AsyncGenerator[LongTerm]:
    longterm = LongTerm(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=EMBEDDING,
        api_key=servers.weaviate_api_key,
        prefix="PerdureTest",
        write_timeout=2,
    )
    await longterm.prepare()
    yield longterm
    await longterm.close()


async def _to_its_end(self: Writes, write: Coroutine[Any, Any, None]) -> None:
    async with answered_within(2):
        await write


async def torn(longterm: LongTerm, delay: float) -> int:
    """Write to a new tenant, leave the write after a while, and return how many no search by meaning finds."""
    tenant = f"t_{uuid4().hex}"
    entries = [memory(tenant, f"Room {number} has {number * 7} windows.") for number in range(100)]
    vectors = await EMBEDDER.embed([entry.text for entry in entries])
    by_id = {entry.id: vector for entry, vector in zip(entries, vectors, strict=True)}
    writing = asyncio.create_task(longterm.put(tenant, entries, by_id))
    await asyncio.wait({writing}, timeout=delay)
    writing.cancel()
    [ended] = await asyncio.gather(writing, return_exceptions=True)
    assert ended is None or isinstance(ended, asyncio.CancelledError)
    missing: list[str] = []
    # What was cut off is stored within some 50 ms.
    for _ in range(10):
        missing = await longterm.unsearchable(tenant)
        await asyncio.sleep(0.01)
    await longterm.drop_tenant(tenant)
    return len(missing)


@pytest.mark.slow
@pytest.mark.parametrize(
    "protected", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["to its end", "control"]
)
async def test_a_write_whose_caller_is_cancelled(
    longterm: LongTerm, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    if not protected:
        monkeypatch.setattr(Writes, "_to_its_end", _to_its_end)
    missing = [await torn(longterm, delay) for delay in DELAYS * (1 if protected else 3)]
    assert (sum(missing) == 0) is protected


REFUSED = "invalid number property 'confidence' on class 'PerdureTestMemory': requires a float, the given value is"


def spoiled(entry: Entry, language: str) -> dict[str, JsonValue]:
    properties = properties_of(entry, language)
    return properties | ({"confidence": "private words"} if "poison" in entry.text else {})


@pytest.mark.parametrize("number", [1, 2], ids=["alone", "all"])
async def test_what_weaviate_refuses_for_its_content_is_refused_with_the_reason_and_without_the_content(
    longterm: LongTerm, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(writes, "properties_of", spoiled)
    tenant = f"t_{uuid4().hex}"
    entries = [memory(tenant, f"poison {place}") for place in range(number)]
    vectors = dict.fromkeys([entry.id for entry in entries], [0.1] * EMBEDDER.dimension)
    with pytest.raises(ContentRefused) as caught:
        await longterm.put(tenant, entries, vectors)
    assert caught.value.reasons == {entry.id: REFUSED for entry in entries}
    assert str(caught.value) == f"PRD235 weaviate refuses {counted(number, 'entry')}: {REFUSED}"
    await longterm.drop_tenant(tenant)


async def test_the_others_of_a_call_are_written_and_no_content_is_logged(
    longterm: LongTerm, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writes, "properties_of", spoiled)
    tenant = f"t_{uuid4().hex}"
    entries = [memory(tenant, text) for text in ("one", "poison", "two")]
    with pytest.raises(ContentRefused) as caught:
        await longterm.put(tenant, entries, dict.fromkeys([one.id for one in entries], [0.1] * EMBEDDER.dimension))
    assert caught.value.reasons.keys() == {entries[1].id}
    assert "poison" not in caplog.text
    assert await longterm.get(tenant, [one.id for one in entries]) == {one.id: one for one in (entries[0], entries[2])}
    await longterm.drop_tenant(tenant)


@pytest.mark.parametrize("passes", [True, False], ids=["passes", "lasts"])
async def test_an_unknown_error_about_one_object_of_a_call_is_no_refusal(
    longterm: LongTerm, monkeypatch: pytest.MonkeyPatch, passes: bool
) -> None:
    tenant, sent = f"t_{uuid4().hex}", list[int]()
    data: Any = type((await collection_of(longterm, tenant, "memory")).data)
    insert_many = data.insert_many

    async def failing(self: object, objects: Sequence[DataObject[Any, Any]]) -> BatchObjectReturn:
        sent.append(len(objects))
        if len(objects) == 1 and not passes:
            raise WeaviateInsertManyAllFailedError("Here is the set of all errors: circuit breaker open")
        result = await insert_many(self, objects)
        if len(objects) > 1:
            failed = BatchObject(collection="PerdureTestMemory", index=1)
            result.errors[1] = ErrorObject(message="circuit breaker open", object_=failed)
        return result

    monkeypatch.setattr(data, "insert_many", failing)
    entries = [memory(tenant, text) for text in ("one", "two", "three")]
    written = longterm.put(tenant, entries, dict.fromkeys([one.id for one in entries], [0.1] * EMBEDDER.dimension))
    if passes:
        await written
    else:
        with pytest.raises(StoreUnavailable):
            await written
    assert sent == [3, 1]
    await longterm.drop_tenant(tenant)


async def test_a_property_that_the_schema_lacks_is_no_refusal(
    longterm: LongTerm, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_newer_build(entry: Entry, language: str) -> dict[str, JsonValue]:
        return properties_of(entry, language) | {"unheard": "x"}

    monkeypatch.setattr(writes, "properties_of", of_newer_build)
    entry = memory(tenant := f"t_{uuid4().hex}", "one")
    with pytest.raises(StoreUnavailable):
        await longterm.put(tenant, [entry], {entry.id: [0.1] * EMBEDDER.dimension})
