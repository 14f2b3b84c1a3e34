import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import weaviate
import weaviate.classes.config as wvc
from weaviate.classes.init import Auth

from perdure.errors import EmbeddingMismatch, SchemaMismatch, StoreUnavailable, VersionConflict
from perdure.identity import memory_id, record_id
from perdure.stores.weaviate import queries, schema
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Record, Source, State
from perdure.values.erasures import Erasure
from perdure.values.filters import Filters
from perdure.values.items import RecordItem, record_text
from tests.conftest import Servers
from tests.support.hashing import HashingEmbedder
from tests.support.nearest import nearest

NOW = datetime(2026, 6, 1, 12, 0, 0, 123457, tzinfo=UTC)
EMBEDDER = HashingEmbedder(32)
EMBEDDING = Embedding(name=EMBEDDER.name, dimension=EMBEDDER.dimension)
PREFIX = "PerdureTest"


def opened(servers: Servers, embedding: Embedding = EMBEDDING, prefix: str = PREFIX) -> LongTerm:
    return LongTerm(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=embedding,
        api_key=servers.weaviate_api_key,
        prefix=prefix,
    )


@pytest.fixture(scope="module")
async def longterm(servers: Servers) -> AsyncGenerator[LongTerm]:
    longterm = opened(servers)
    await longterm.prepare()
    yield longterm
    await longterm.close()


@pytest.fixture
async def tenant(longterm: LongTerm) -> AsyncGenerator[str]:
    tenant = f"t_{uuid4().hex}"
    yield tenant
    await longterm.drop_tenant(tenant)


def memory(tenant: str, text: str, **more: object) -> Memory:
    fields = {
        "id": memory_id(tenant, MemoryType.FACT, text),
        "text": text,
        "memory_type": MemoryType.FACT,
        "source": Source.EXPLICIT,
        "first_seen": NOW,
        "last_seen": NOW,
        **more,
    }
    return Memory.model_validate(fields)


def record(
    tenant: str, key: str, number: int = 0, *, lane: Lane = Lane.PATTERN, days: float = 0, **more: object
) -> Record:
    item = RecordItem(lane=lane, key=key, payload={"n": number}, occurrence="o", occurred_at=NOW)
    fields = {
        "id": record_id(tenant, lane, key, item.payload),
        "text": record_text(item),
        "lane": lane,
        "key": key,
        "payload": item.payload,
        "first_seen": NOW - timedelta(days=days),
        "last_seen": NOW - timedelta(days=days),
        **more,
    }
    return Record.model_validate(fields)


async def put(longterm: LongTerm, tenant: str, *entries: Entry) -> None:
    vectors = await EMBEDDER.embed([entry.text for entry in entries])
    await longterm.put(tenant, entries, {entry.id: vector for entry, vector in zip(entries, vectors, strict=True)})


async def found(longterm: LongTerm, tenant: str, text: str, **more: object) -> set[str]:
    [vector] = await EMBEDDER.embed([text])
    filters = Filters.model_validate({"now": NOW, **more})
    hits = await longterm.search(tenant, text=text, vector=vector, limit=10, filters=filters)
    return {hit.entry.text.partition("\n")[0] for hit in hits}


async def test_entries_come_back_as_they_were(longterm: LongTerm, tenant: str) -> None:
    entries = [
        memory(tenant, "a fact", tags=("x",), valid_until=NOW + timedelta(microseconds=1), occurrences=("o1", "o2")),
        record(tenant, "k", 7, forget_after=NOW, forget_reason="expired", operations=("op",)),
    ]
    await put(longterm, tenant, *entries)
    assert await longterm.get(tenant, [entry.id for entry in entries]) == {entry.id: entry for entry in entries}


async def test_a_write_is_visible_at_once_and_absolute(longterm: LongTerm, tenant: str) -> None:
    for version in range(1, 30):
        text = "versioned"
        entry = memory(tenant, text, version=version, valid_until=NOW + timedelta(1) if version % 2 else None)
        await put(longterm, tenant, entry)
        assert await longterm.searchable(tenant, [entry.id, "mem_none", "exec_none"]) == {entry.id: version}
        assert await longterm.get(tenant, [entry.id]) == {entry.id: entry}
        assert await found(longterm, tenant, text) == {text}
    assert await longterm.count(tenant) == 1


async def test_without_a_vector_the_old_one_stays(longterm: LongTerm, tenant: str) -> None:
    entries = [memory(tenant, "green apples"), memory(tenant, "blue whales")]
    await put(longterm, tenant, *entries)
    changed = [entry.changed(version=2, confidence=0.5) for entry in entries]
    await longterm.put(tenant, changed, {})
    [vector] = await EMBEDDER.embed(["green apples"])
    [first, _] = await nearest(longterm, tenant, vector, 2)
    assert first.entry == changed[0]
    assert first.cosine == pytest.approx(1.0, abs=1e-5)


async def test_what_was_purged_is_not_made_again_by_a_change(longterm: LongTerm, tenant: str) -> None:
    with pytest.raises(VersionConflict):
        await longterm.put(tenant, [memory(tenant, "nobody")], {})
    await put(longterm, tenant, memory(tenant, "somebody"))
    with pytest.raises(VersionConflict):
        await longterm.put(tenant, [memory(tenant, "nobody")], {})
    assert await longterm.count(tenant) == 1


async def test_a_missing_tenant_is_empty(longterm: LongTerm) -> None:
    nobody = f"t_{uuid4().hex}"
    assert await longterm.get(nobody, ["mem_1", "exec_1"]) == {}
    assert await longterm.searchable(nobody, ["mem_1", "exec_1"]) == {}
    assert await longterm.lookup(nobody, lane=Lane.PATTERN, limit=5, now=NOW) == []
    assert await found(longterm, nobody, "anything") == set()
    assert await nearest(longterm, nobody, [1.0] * 32, 3) == []
    assert await longterm.due(nobody, before=NOW, limit=5) == []
    assert await longterm.purgeable(nobody, before=NOW, limit=5) == []
    assert await longterm.next_due(nobody) is None
    assert await longterm.count(nobody) == 0
    await longterm.delete(nobody, ["mem_1", "exec_1"])
    await longterm.drop_tenant(nobody)
    assert nobody not in await longterm.tenants()


async def test_no_tenant_sees_or_changes_anothers(longterm: LongTerm, tenant: str) -> None:
    mine, theirs = memory(tenant, "a shared secret"), memory(tenant, "a shared secret", version=9)
    other = f"t_{uuid4().hex}"
    await put(longterm, tenant, mine)
    await put(longterm, other, theirs)
    await longterm.delete(other, [mine.id])
    assert await longterm.get(other, [mine.id]) == {}
    assert await found(longterm, other, "a shared secret") == set()
    assert await longterm.get(tenant, [mine.id]) == {mine.id: mine}
    assert {tenant, other} <= set(await longterm.tenants())
    await longterm.drop_tenant(other)
    assert await longterm.count(tenant) == 1


async def test_records_are_looked_up_by_lane_and_key_newest_first(longterm: LongTerm, tenant: str) -> None:
    await put(
        longterm,
        tenant,
        record(tenant, "a", 1, days=2),
        record(tenant, "a", 2, days=1),
        record(tenant, "a b", 3),
        record(tenant, "A", 4),
        record(tenant, "a", 5, lane=Lane.FEEDBACK),
        record(tenant, "a", 6, state=State.FORGOTTEN),
        record(tenant, "a", 7, valid_until=NOW),
    )

    async def numbers(*keys: str, limit: int = 10) -> list[object]:
        records = await longterm.lookup(tenant, lane=Lane.PATTERN, keys=keys, limit=limit, now=NOW)
        return [one.payload for one in records]

    assert await numbers("a") == [{"n": 2}, {"n": 1}]
    assert await numbers("a", limit=1) == [{"n": 2}]
    assert await numbers("nothing") == []
    assert sorted(map(str, await numbers())) == sorted(map(str, [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]))


async def test_search_heeds_every_filter(longterm: LongTerm, tenant: str) -> None:
    await put(
        longterm,
        tenant,
        memory(tenant, "fish one"),
        memory(tenant, "fish two", confidence=0.69),
        memory(tenant, "fish three", memory_type=MemoryType.PREFERENCE),
        memory(tenant, "fish four", state=State.SUPERSEDED),
        memory(tenant, "fish five", state=State.FORGOTTEN),
        memory(tenant, "fish six", valid_until=NOW),
        record(tenant, "fish", lane=Lane.PATTERN),
        record(tenant, "fish", lane=Lane.FEEDBACK),
    )
    everything = {"fish one", "fish two", "fish three", "pattern fish", "feedback fish"}
    assert await found(longterm, tenant, "fish") == everything
    assert await found(longterm, tenant, "fish", min_confidence=0.7) == everything - {"fish two"}
    assert await found(longterm, tenant, "fish", memory_types=[MemoryType.PREFERENCE]) == {"fish three"}
    memories = everything - {"pattern fish", "feedback fish"}
    assert await found(longterm, tenant, "fish", lane=Lane.FEEDBACK) == {*memories, "feedback fish"}
    hits = await longterm.search(tenant, text="fish one", vector=None, limit=10, filters=Filters(now=NOW))
    assert {hit.cosine for hit in hits} == {None}
    assert max(hits, key=lambda hit: hit.bm25 or 0.0).entry.text == "fish one"


async def test_the_payload_is_not_searched_by_words(longterm: LongTerm, tenant: str) -> None:
    await put(longterm, tenant, record(tenant, "k"))
    hits = await longterm.search(tenant, text="EXEC_MEMORY_JSON n", vector=None, limit=10, filters=Filters(now=NOW))
    assert hits == []


@pytest.mark.slow
@pytest.mark.parametrize("at_least", [100, pytest.param(0, id="control")])
async def test_what_has_just_been_written_is_found_by_its_rarest_word(
    longterm: LongTerm, tenant: str, monkeypatch: pytest.MonkeyPatch, at_least: int
) -> None:
    monkeypatch.setattr(queries, "_WORDS_AT_LEAST", at_least)
    entries = [memory(tenant, f"project p{number} is due in week nine") for number in range(90)]
    await put(longterm, tenant, *entries)
    best = [(await longterm.sharing_words(tenant, one.text, limit=5))[0].text for one in entries]
    assert (best == [one.text for one in entries]) is bool(at_least)


@pytest.mark.parametrize(("language", "expected"), [("german", ["Die Häuser am Fluss."]), ("english", [])])
async def test_words_are_found_by_the_stems_of_the_language(
    servers: Servers, tenant: str, language: str, expected: list[str]
) -> None:
    embedding = EMBEDDING.changed(language=language)
    store = opened(servers, embedding, f"Perdure{language.capitalize()}{uuid4().hex[:8]}")
    try:
        await store.prepare()
        await put(store, tenant, memory(tenant, "Die Häuser am Fluss."))
        hits = await store.search(tenant, text="Welches Haus?", vector=None, limit=9, filters=Filters(now=NOW))
        assert [hit.entry.text for hit in hits] == expected
    finally:
        await store.close()


async def test_quantised_vectors_give_the_exact_nearest(longterm: LongTerm, tenant: str) -> None:
    entries = [memory(tenant, f"word{number} other{number % 7} thing{number % 3}") for number in range(300)]
    await put(longterm, tenant, *entries)
    vectors = await EMBEDDER.embed([entry.text for entry in entries])

    def cosine(one: Sequence[float], other: Sequence[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    for vector in vectors[::50]:
        hits = await nearest(longterm, tenant, vector, 5)
        exact = sorted((cosine(vector, other) for other in vectors), reverse=True)[:5]
        assert [hit.cosine for hit in hits] == pytest.approx(exact, abs=1e-5)


async def test_what_is_due_comes_most_overdue_first(longterm: LongTerm, tenant: str) -> None:
    def on(day: int) -> datetime:
        return NOW + timedelta(days=day)

    await put(
        longterm,
        tenant,
        memory(tenant, "three", forget_after=on(3)),
        memory(tenant, "one", forget_after=on(1), state=State.SUPERSEDED),
        record(tenant, "two", forget_after=on(2)),
        memory(tenant, "never"),
        memory(tenant, "gone", forget_after=on(1), state=State.FORGOTTEN, purge_after=on(1) - timedelta(seconds=1)),
    )

    async def names(day: float, limit: int = 10) -> list[str]:
        due = await longterm.due(tenant, before=NOW + timedelta(days=day), limit=limit)
        return [entry.text.partition("\n")[0] for entry in due]

    assert await names(3) == ["one", "pattern two", "three"]
    assert await names(3, limit=2) == ["one", "pattern two"]
    assert await names(2) == ["one", "pattern two"]
    assert await longterm.due(tenant, before=on(1) - timedelta(microseconds=1), limit=9) == []
    assert [entry.text for entry in await longterm.purgeable(tenant, before=on(1), limit=9)] == ["gone"]
    assert await longterm.next_due(tenant) == on(1) - timedelta(seconds=1)
    assert await longterm.count(tenant) == 3


async def test_large_writes_are_split(longterm: LongTerm, tenant: str) -> None:
    entries = [memory(tenant, f"number {number}") for number in range(450)]
    await put(longterm, tenant, *entries)
    ids = [entry.id for entry in entries]
    assert len(await longterm.get(tenant, ids)) == len(await longterm.searchable(tenant, ids)) == 450
    await longterm.delete(tenant, ids[:449])
    assert set(await longterm.get(tenant, ids)) == {ids[449]}


async def test_another_embedding_model_is_refused(servers: Servers, longterm: LongTerm) -> None:
    await longterm.open()
    other = opened(servers, Embedding(name="other", dimension=32))
    with pytest.raises(EmbeddingMismatch, match="hashing-32"):
        await other.get("t_1", ["mem_1"])
    await other.close()


async def test_processes_that_start_at_once_make_the_collections_once(servers: Servers) -> None:
    prefix = f"PerdureStart{uuid4().hex[:8]}"
    several = [opened(servers, prefix=prefix) for _ in range(3)]
    try:
        await asyncio.gather(*(one.prepare() for one in several))
        assert await several[0].tenants() == []
    finally:
        for one in several:
            await one.close()
        await _remove(servers, prefix)


async def test_a_write_never_creates_or_changes_a_collection(servers: Servers, tenant: str) -> None:
    prefix = f"PerdureStart{uuid4().hex[:8]}"
    longterm = opened(servers, prefix=prefix)
    try:
        with pytest.raises(StoreUnavailable, match=r"no collection .*Record yet"):
            await put(longterm, tenant, memory(tenant, "early"))
        erasure = Erasure(tenant=tenant, epoch=1, at=NOW, operation="erase")
        with pytest.raises(StoreUnavailable, match=r"no collection .*Erasure yet"):
            await longterm.erasures.add(erasure)
        async with client_of(servers) as client:
            assert not await client.collections.exists(f"{prefix}Record")
            assert not await client.collections.exists(f"{prefix}Erasure")
        await longterm.prepare()
        await put(longterm, tenant, memory(tenant, "early"))
        await longterm.erasures.add(erasure)
        assert await longterm.erasures.all() == {tenant: erasure}
    finally:
        await longterm.close()
        await _remove(servers, prefix)


async def test_properties_that_an_older_build_did_not_have_are_added_at_a_start(servers: Servers, tenant: str) -> None:
    prefix = f"PerdureStart{uuid4().hex[:8]}"
    older, entry = schema.COMMON, memory(tenant, "old")
    longterm = opened(servers, prefix=prefix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "COMMON", tuple(one for one in older if one.name != "forget_reason"))
        await longterm.prepare()
    try:
        await longterm.close()
        longterm = opened(servers, prefix=prefix)
        await longterm.prepare()
        await put(longterm, tenant, entry.changed(forget_reason="expired", forget_after=NOW))
        assert await longterm.count_due(tenant, before=NOW) == {"expired": 1}
    finally:
        await longterm.close()
        await _remove(servers, prefix)


async def test_what_cannot_be_added_is_named_with_what_to_do(servers: Servers) -> None:
    prefix = f"PerdureStart{uuid4().hex[:8]}"
    longterm = opened(servers, prefix=prefix)
    unranged = wvc.Property(name="forget_after", data_type=wvc.DataType.INT, index_filterable=True)
    with pytest.MonkeyPatch.context() as patch:
        others = tuple(one for one in schema.COMMON if one.name != "forget_after")
        patch.setattr(schema, "COMMON", (*others, unranged))
        await longterm.prepare()
    try:
        with pytest.raises(SchemaMismatch, match=r"forget_after .*new-collections"):
            await longterm.prepare()
    finally:
        await longterm.close()
        await _remove(servers, prefix)


def client_of(servers: Servers) -> weaviate.WeaviateAsyncClient:
    host, port = servers.weaviate_url.removeprefix("http://").split(":")
    key = servers.weaviate_api_key
    return weaviate.use_async_with_local(
        host,
        int(port),
        servers.weaviate_grpc_port,
        skip_init_checks=True,
        auth_credentials=Auth.api_key(key.get_secret_value()) if key else None,
    )


async def _remove(servers: Servers, prefix: str) -> None:
    async with client_of(servers) as client:
        await client.collections.delete([f"{prefix}Record", f"{prefix}Memory", f"{prefix}Erasure"])


async def test_a_wrong_vector_is_refused(longterm: LongTerm, tenant: str) -> None:
    entry = memory(tenant, "short")
    with pytest.raises(ValueError, match="not 32"):
        await longterm.put(tenant, [entry], {entry.id: [1.0]})


async def test_a_server_that_is_not_there_is_said_to_be_so_in_time() -> None:
    dead = LongTerm("http://127.0.0.1:9", 10, embedding=EMBEDDING, query_timeout=0.5)
    async with asyncio.timeout(5):
        with pytest.raises(StoreUnavailable, match="weaviate"):
            await dead.get("t_1", ["mem_1"])
    await dead.close()


async def test_a_server_that_never_answers_is_given_up(servers: Servers) -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(swallow, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    # Opened against the real server's HTTP, asking a gRPC port that takes the question and says nothing.
    longterm = LongTerm(
        servers.weaviate_url,
        port,
        embedding=EMBEDDING,
        api_key=servers.weaviate_api_key,
        prefix=PREFIX,
        query_timeout=0.5,
    )
    try:
        async with asyncio.timeout(5):
            with pytest.raises(StoreUnavailable, match="no answer within"):
                await longterm.get("t_1", ["mem_1"])
    finally:
        await longterm.close()
        silent.close()
        await silent.wait_closed()
