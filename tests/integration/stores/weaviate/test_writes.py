"""A write whose caller is cancelled, or gives up, leaves nothing out of the vector index."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any
from uuid import uuid4

import pytest

from perdure.stores.weaviate.connection import answered_within
from perdure.stores.weaviate.store import LongTerm
from perdure.stores.weaviate.writes import Writes
from tests.conftest import Servers
from tests.integration.stores.weaviate.test_store import EMBEDDER, EMBEDDING, memory

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
