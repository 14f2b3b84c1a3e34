import asyncio
import dataclasses
import os
import time
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from redis.asyncio import Redis
from temporalio.testing import ActivityEnvironment

from activities.memory import MemoryActivities
from perdure.errors import EmbeddingMismatch, PerdureError, ResultTooLarge, StoreUnavailable
from perdure.memory.audit.audit import Audit
from perdure.memory.membership import MemberBook
from perdure.memory.recall.query import FoundBy, Query, RecallResult, Trigger
from perdure.memory.recall.service import Recall
from perdure.memory.recall.telemetry import RecallTelemetry
from perdure.memory.repair import Repair
from perdure.memory.wholeness import Wholeness
from perdure.models.embedding import CachedEmbedder, Vector
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.models.errors import ModelRefused
from perdure.stores.audit.files import FOLDER
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.lines import Changed, Line, Settled, accepted
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import connect
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.redis.outputs import Outputs
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.values.assertions import Assertion
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Record
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.items import Item, MemoryItem, PatternItem, RecordItem, item_id, record_text
from perdure.values.jobs import Batch
from perdure.values.requests import RecallRequest
from tests.conftest import Servers
from tests.integration.conftest import member_book
from tests.support.cutting import collection_of, objects
from tests.support.hashing import HashingEmbedder

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
EMBEDDER = CachedEmbedder(MiniLMEmbedder())
EMBEDDING = Embedding(name=EMBEDDER.name, dimension=EMBEDDER.dimension)
DEAD_REDIS = "redis://127.0.0.1:9"


def longterm_of(servers: Servers, embedding: Embedding = EMBEDDING) -> LongTerm:
    return LongTerm(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=embedding,
        api_key=servers.weaviate_api_key,
        prefix="PerdureTestRecall",
    )


@dataclass(frozen=True, kw_only=True)
class Tiers:
    longterm: LongTerm
    episodes: Episodes
    journal: Journal
    spool: Spool
    checks: Checks
    deletions: Deletions
    leases: Leases
    whole: Wholeness
    tenant: str

    def recall(self, **other: Any) -> Recall:
        given: dict[str, Any] = {
            "longterm": self.longterm,
            "episodes": self.episodes,
            "journal": self.journal,
            "spool": self.spool,
            "checks": self.checks,
            "deletions": self.deletions,
            "leases": self.leases,
            "whole": self.whole,
            "embedder": EMBEDDER,
        }
        return Recall(**(given | other))

    def members(self, key: TenantKey, redis: Redis) -> MemberBook:
        audit = Audit(self.journal.folder / FOLDER, key, AuditHeads(redis))
        return member_book(redis, self.journal, self.whole, audit, key)

    def query(self, text: str = "", **more: Any) -> Query:
        return Query.model_validate({"tenant": self.tenant, "session": "s", "text": text, "now": NOW, **more})

    async def ask(self, text: str, **more: Any) -> Query:
        """Return a query whose vector is known: on a busy machine the model may take longer than recall waits."""
        await EMBEDDER.embed([text])
        return self.query(text, **more)

    async def know(self, *items: Item, journaled: bool = True) -> None:
        """Store items, as the writer would, and journal them."""
        entries = [_entry(self.tenant, item) for item in items]
        vectors = await EMBEDDER.embed([entry.text.partition("\n")[0] for entry in entries])
        await self.longterm.put(
            self.tenant, entries, {entry.id: vector for entry, vector in zip(entries, vectors, strict=True)}
        )
        if journaled:
            batch = Batch(tenant=self.tenant, key="k", items=items)
            await self.journal.append(self.tenant, accepted(uuid4().hex, batch, NOW))


def _entry(tenant: str, item: Item) -> Entry:
    common: dict[str, Any] = {
        "id": item_id(tenant, item),
        "first_seen": item.occurred_at,
        "last_seen": item.occurred_at,
        "confidence": item.confidence,
    }
    if isinstance(item, RecordItem):
        return Record(text=record_text(item), lane=item.lane, key=item.key, payload=item.payload, **common)
    assert isinstance(item, MemoryItem)
    return Memory(text=item.content, memory_type=item.memory_type, source=item.source, **common)


@pytest.fixture
async def tiers(servers: Servers, tmp_path: Path) -> AsyncGenerator[Tiers]:
    redis, longterm = connect(servers.redis_url), longterm_of(servers)
    tiers = Tiers(
        longterm=longterm,
        episodes=Episodes(redis),
        journal=Journal(tmp_path / "journal"),
        spool=Spool(tmp_path / "spool", ErasureLog(tmp_path / "journal")),
        checks=Checks(redis),
        deletions=Deletions(redis),
        leases=Leases(redis),
        whole=Wholeness(JournalMarks(tmp_path / "journal"), RedisMarks(redis), longterm.marks),
        tenant=f"t_{uuid4().hex}",
    )
    await tiers.longterm.prepare()
    yield tiers
    await tiers.longterm.drop_tenant(tiers.tenant)
    await tiers.longterm.close()
    await redis.aclose()


def believed(content: str, kind: MemoryType = MemoryType.FACT, confidence: float = 0.9) -> MemoryItem:
    return MemoryItem(
        content=content,
        memory_type=kind,
        confidence=confidence,
        occurrence=content,
        occurred_at=NOW - timedelta(days=1),
    )


def logged(key: str, summary: str = "", days: float = 1, payload: Any = None) -> RecordItem:
    return PatternItem(
        lane=Lane.PATTERN,
        key=key,
        payload=payload or {"licence": "MIT"},
        summary=summary,
        occurrence=f"{key} {days}",
        occurred_at=NOW - timedelta(days=days),
    )


def episode(number: int, importance: float = 0.5) -> Episode:
    at = NOW - timedelta(minutes=100 - number)
    return Episode(id=f"e{number}", kind=EpisodeKind.TOOL, text=f"looked at {number}", importance=importance, at=at)


KNOWN = (
    believed("The user is allergic to peanuts", MemoryType.CONSTRAINT),
    believed("The user lives in a small flat in Basel"),
    believed("Deployments happen on Tuesday mornings"),
    believed("The user may like hazelnuts", MemoryType.PREFERENCE, 0.5),
)


async def test_every_tier_is_read_with_one_call(tiers: Tiers) -> None:
    await tiers.know(*KNOWN, logged("numpy", "numpy has a BSD licence", payload={"n": [1, 2.5, None]}))
    await tiers.episodes.append(tiers.tenant, "s", episode(1))
    result = await tiers.recall().recall(tiers.query("what is the user allergic to?", working=("goal: cook dinner",)))
    assert result.items[0].text == "The user is allergic to peanuts"
    assert result.items[0].found_by is FoundBy.SEMANTIC
    assert (result.trigger, result.degraded) == (Trigger.NO_KEY, ())
    assert [one.id for one in result.episodes] == ["e1"]
    for line in ("- goal: cook dinner", "## Constraints", "peanuts", "looked at 1"):
        assert line in result.context
    assert 0 < result.milliseconds < 5_000


async def test_what_is_believed_too_little_is_not_recalled(tiers: Tiers) -> None:
    await tiers.know(*KNOWN)
    query = tiers.query("does the user like hazelnuts?")
    assert "hazelnuts" not in (await tiers.recall().recall(query)).context
    unsure = query.changed(min_confidence=0.4)
    assert (await tiers.recall().recall(unsure)).items[0].text == "The user may like hazelnuts"


async def test_only_the_types_that_were_asked_for(tiers: Tiers) -> None:
    await tiers.know(*KNOWN)
    result = await tiers.recall().recall(tiers.query("the user", memory_types=("constraint",)))
    assert {item.memory_type for item in result.items} == {MemoryType.CONSTRAINT}


async def test_enough_exact_items_need_no_search(tiers: Tiers) -> None:
    await tiers.know(*KNOWN, *(logged(key, days=days) for days, key in enumerate(["a", "b", "c", "d"], 1)))
    result = await tiers.recall().recall(tiers.query("peanuts", lane="pattern", keys=("c", "a", "b")))
    assert [(item.key, item.found_by) for item in result.items] == [(key, FoundBy.EXACT) for key in "abc"]
    assert result.trigger is Trigger.NONE
    assert result.items[0].payload == {"licence": "MIT"}
    assert result.items[0].why.startswith("same lane and key")


async def test_too_few_exact_items_are_followed_by_a_search(tiers: Tiers) -> None:
    await tiers.know(*KNOWN, logged("a"))
    result = await tiers.recall().recall(tiers.query("peanuts", lane="pattern", keys=("a", "b")))
    assert (result.items[0].key, result.items[0].found_by) == ("a", FoundBy.EXACT)
    assert "The user is allergic to peanuts" in {
        item.text for item in result.items if item.found_by is FoundBy.SEMANTIC
    }
    assert result.trigger is Trigger.TOO_FEW
    assert len({item.id for item in result.items}) == len(result.items)
    satisfied = tiers.query("peanuts", lane="pattern", keys=("a", "b"), enough=1)
    assert len((await tiers.recall().recall(satisfied)).items) == 1


async def test_the_fallback_is_capped_and_the_exact_answer_is_not(tiers: Tiers) -> None:
    await tiers.know(*(logged(f"k{number}", "an audit of a package") for number in range(40)))
    await tiers.know(*(believed(f"The audit number {number} of a package went well") for number in range(40)))
    many = tiers.query("audit of a package", lane="pattern", keys=tuple(f"k{number}" for number in range(40)))
    assert len((await tiers.recall().recall(many)).items) == 40
    few = tiers.query("audit of a package", lane="pattern", keys=("k1",), limit=50)
    found = [item.found_by for item in (await tiers.recall().recall(few)).items]
    assert (found.count(FoundBy.EXACT), found.count(FoundBy.SEMANTIC)) == (1, 10)


async def test_without_a_key_a_full_log_does_not_starve_memory(tiers: Tiers) -> None:
    await tiers.know(*KNOWN, *(logged(f"k{number}") for number in range(20)))
    result = await tiers.recall().recall(tiers.query("peanuts", lane="pattern"))
    assert len(result.items) == 10
    assert any(item.kind == "memory" and "peanuts" in item.text for item in result.items)
    assert result.trigger is Trigger.NO_KEY


async def test_episodes_are_the_newest_and_the_most_important(tiers: Tiers) -> None:
    for number in range(30):
        await tiers.episodes.append(tiers.tenant, "s", episode(number, 1.0 if number == 2 else 0.1))
    found = [one.id for one in (await tiers.recall().recall(tiers.query())).episodes]
    assert found[0] == "e2"
    assert found[-10:] == [f"e{number}" for number in range(20, 30)]


@pytest.mark.parametrize("lost", [False, True], ids=["in Redis", "on disk"])
async def test_what_happened_long_ago_in_a_session_is_found_by_its_words_where_that_is_asked(
    tiers: Tiers, lost: bool
) -> None:
    told = episode(0).changed(text="turn 1: The staging database listens on port 5433.")
    for one in (told, *(episode(number) for number in range(1, 40))):
        if lost:
            await tiers.spool.append(tiers.tenant, "s", one)
        else:
            await tiers.episodes.append(tiers.tenant, "s", one)
    dead = connect("redis://127.0.0.1:9")
    recall = tiers.recall(episodes=Episodes(dead)) if lost else tiers.recall()
    asked = tiers.query(in_session="Which port does staging use?")
    for query, found in ((asked, ("e0",)), (tiers.query(), ()), (asked.changed(session="other"), ())):
        result = await recall.recall(query)
        assert tuple(one.id for one in result.found_in_session) == found
        assert "e0" not in [one.id for one in result.episodes]
        assert ("port 5433" in result.context) == bool(found)
    newest = await recall.recall(asked.changed(in_session="looked at 39"))
    assert [one.id for one in newest.found_in_session] == ["e39"]
    assert "e39" not in [one.id for one in newest.episodes], "nothing is told twice"
    await dead.aclose()


async def test_nobody_recalls_anothers(tiers: Tiers) -> None:
    await tiers.know(*KNOWN, logged("a"))
    await tiers.episodes.append(tiers.tenant, "s", episode(1))
    query = tiers.query("peanuts", lane="pattern", keys=("a",)).changed(tenant=f"t_{uuid4().hex}")
    result = await tiers.recall().recall(query)
    assert (result.items, result.episodes, result.degraded) == ((), (), ())


async def test_with_the_store_down_the_journal_answers_in_time(tiers: Tiers) -> None:
    await tiers.know(*KNOWN, logged("a"), logged("b"))
    await tiers.episodes.append(tiers.tenant, "s", episode(1))
    dead = LongTerm("http://127.0.0.1:9", 10, embedding=EMBEDDING)
    recall = tiers.recall(longterm=dead, limit_seconds=1.0)
    query = await tiers.ask("is the user allergic?", lane="pattern", keys=("a",))
    started = time.perf_counter()
    result = await recall.recall(query)
    assert time.perf_counter() - started < 1.5
    assert result.degraded == ("weaviate",)
    assert [(item.key, item.payload) for item in result.items if item.kind == "record"] == [("a", {"licence": "MIT"})]
    assert result.items[1].text == "The user is allergic to peanuts"
    assert {item.found_by for item in result.items} == {FoundBy.JOURNAL}
    assert [one.id for one in result.episodes] == ["e1"]
    assert "no answer from weaviate" in result.context
    await dead.close()


async def test_a_store_that_hangs_costs_no_more_than_the_limit(servers: Servers, tiers: Tiers) -> None:
    await tiers.know(*KNOWN)

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(swallow, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    redis = connect(f"redis://127.0.0.1:{port}", timeout=30)
    longterm = LongTerm(
        servers.weaviate_url,
        port,
        embedding=EMBEDDING,
        api_key=servers.weaviate_api_key,
        prefix="PerdureTestRecall",
        query_timeout=60,
    )
    try:
        recall = tiers.recall(longterm=longterm, episodes=Episodes(redis), limit_seconds=1.0)
        query = await tiers.ask("allergic to peanuts")
        started = time.perf_counter()
        result = await recall.recall(query)
        assert time.perf_counter() - started < 1.5
        assert result.degraded == ("redis", "weaviate")
        assert result.items[0].text == "The user is allergic to peanuts"
    finally:
        await longterm.close()
        await redis.aclose()
        silent.close()
        await silent.wait_closed()


@pytest.fixture
async def own_threads() -> AsyncGenerator[None]:
    """Threads that end with the test: what recall gives up goes on in them, and would slow the next test."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor() as threads:
        loop.set_default_executor(threads)
        yield
        loop.set_default_executor(ThreadPoolExecutor())


@pytest.mark.usefixtures("own_threads")
async def test_a_large_journal_costs_no_more_than_the_limit_and_holds_nothing_else_up(tiers: Tiers) -> None:
    items = tuple(believed(f"statement {number} of a long life") for number in range(40_000))
    for start in range(0, len(items), 100):
        batch = Batch(tenant=tiers.tenant, key=str(start), items=items[start : start + 100])
        await tiers.journal.append(tiers.tenant, accepted(str(start), batch, NOW))
    dead = LongTerm("http://127.0.0.1:9", 10, embedding=EMBEDDING)
    pauses: list[float] = []

    async def beat() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            pauses.append(time.perf_counter() - before)

    beating = asyncio.create_task(beat())
    started = time.perf_counter()
    result = await tiers.recall(longterm=dead, limit_seconds=0.4).recall(tiers.query("statement"))
    took = time.perf_counter() - started
    beating.cancel()
    # All of it takes 2 s and more; wide bounds, since what else runs here may take its share.
    assert took < 1.2
    assert max(pauses) < 1.2
    assert "journal" in result.degraded, "the control: there was more than the limit allows"
    await dead.close()


@pytest.mark.usefixtures("own_threads")
async def test_of_a_journal_too_large_for_the_limit_the_newest_answers(tiers: Tiers) -> None:
    # To decide on all of them takes 8 s and more.
    for start in range(0, 20_000, 100):
        items = tuple(believed(f"statement {number} of a long life") for number in range(start, start + 100))
        batch = Batch(tenant=tiers.tenant, key=str(start), items=items)
        await tiers.journal.append(tiers.tenant, accepted(str(start), batch, NOW))
    dead = LongTerm("http://127.0.0.1:9", 10, embedding=EMBEDDING)
    result = await tiers.recall(longterm=dead, limit_seconds=6.0).recall(await tiers.ask("statement 19999"))
    assert result.degraded == ("journal", "weaviate")
    assert result.items[0].text == "statement 19999 of a long life"
    await dead.close()


@pytest.mark.usefixtures("own_threads")
async def test_a_few_waiting_jobs_keep_nobody_from_what_is_remembered(tiers: Tiers) -> None:
    by = Actor(kind=ActorKind.PERSON, id="ada")
    for start in range(0, 4_000, 500):
        written: list[Line] = []
        for number in range(start, start + 500):
            assertion = Assertion(subject=f"thing{number}", attribute="be", value="blue")
            entry = _entry(tiers.tenant, believed(f"Thing{number} is blue")).changed(assertion=assertion)
            written.append(Changed(entry=entry, operation=entry.id, by=by, why="insert", at=NOW))
            written.append(Settled(operation=entry.id, versions={entry.id: 1}, at=NOW))
        await tiers.journal.append(tiers.tenant, written)
    for number in range(100):
        assertion = Assertion(subject=f"other{number}", attribute="be", value="red")
        items = (believed(f"Other{number} is red").changed(assertion=assertion),)
        await tiers.journal.append(
            tiers.tenant, accepted(str(number), Batch(tenant=tiers.tenant, key="k", items=items), NOW)
        )
    dead = LongTerm("http://127.0.0.1:9", 10, embedding=EMBEDDING)
    # To compare each job with each memory takes 5 s and more.
    result = await tiers.recall(longterm=dead, limit_seconds=4.0).recall(await tiers.ask("thing3999 and other99"))
    assert "weaviate" in result.degraded
    assert {item.text for item in result.items} == {"Thing3999 is blue", "Other99 is red"}
    await dead.close()


@pytest.mark.parametrize("protected", [True, False], ids=["redis tells", "control: nobody tells"])
@pytest.mark.parametrize("journaled", ["accepted", "written"])
async def test_what_redis_alone_knows_to_be_forgotten_is_not_recalled_from_the_journal(
    tiers: Tiers, protected: bool, journaled: str
) -> None:
    kept, gone = KNOWN[0], KNOWN[1]
    if journaled == "accepted":
        await tiers.know(kept, gone)
    else:
        entries = [_entry(tiers.tenant, item).stamped(1, "job") for item in (kept, gone)]
        by = Actor(kind=ActorKind.PERSON)
        changes = [Changed(entry=entry, operation="job", by=by, why="insert", at=NOW) for entry in entries]
        settled = Settled(operation="job", versions={entry.id: 1 for entry in entries}, at=NOW)
        await tiers.journal.append(tiers.tenant, [*changes, settled])
    # The journal is one from before the deletion, or of another machine.
    at = NOW + timedelta(minutes=1)
    line = Deletion(id=item_id(tiers.tenant, gone), at=at, reason="asked for", sweep="r")
    async with tiers.leases.hold(tiers.tenant) as lease:
        await tiers.deletions.write(tiers.tenant, [line] if protected else [], lease)
    dead = LongTerm("http://127.0.0.1:9", 10, embedding=EMBEDDING)
    result = await tiers.recall(longterm=dead, limit_seconds=20.0).recall(await tiers.ask("the user"))
    assert result.degraded == ("weaviate",)
    texts = {item.text for item in result.items}
    assert kept.content in texts
    assert (gone.content not in texts) is protected
    await dead.close()


async def test_with_redis_down_the_rest_answers(tiers: Tiers) -> None:
    await tiers.know(*KNOWN)
    await tiers.spool.append(tiers.tenant, "s", episode(7))
    redis = connect(DEAD_REDIS)
    result = await tiers.recall(episodes=Episodes(redis)).recall(await tiers.ask("allergies"))
    assert result.degraded == ("redis",)
    assert [one.id for one in result.episodes] == ["e7"]
    assert result.items[0].text == "The user is allergic to peanuts"
    await redis.aclose()


class Failing(HashingEmbedder):
    def __init__(self, error: PerdureError) -> None:
        super().__init__()
        self.error = error

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise self.error


@pytest.mark.parametrize(
    "error", [StoreUnavailable("openai", "RateLimitError"), ModelRefused("openai", "AuthenticationError")]
)
async def test_without_the_model_words_are_searched(tiers: Tiers, error: PerdureError) -> None:
    await tiers.know(*KNOWN)
    result = await tiers.recall(embedder=Failing(error)).recall(tiers.query("deployments on which mornings"))
    assert result.degraded == ("embedding",)
    assert result.items[0].text == "Deployments happen on Tuesday mornings"
    assert "cosine" not in result.items[0].parts


async def test_everything_down_is_an_empty_answer(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("in the way")
    dead, redis = LongTerm("http://127.0.0.1:9", 10, embedding=EMBEDDING), connect(DEAD_REDIS)
    recall = Recall(
        longterm=dead,
        episodes=Episodes(redis),
        journal=Journal(tmp_path / "journal" / "x"),
        spool=Spool(tmp_path / "journal" / "y", ErasureLog(tmp_path / "journal")),
        checks=Checks(redis),
        deletions=Deletions(redis),
        leases=Leases(redis),
        whole=Wholeness(JournalMarks(tmp_path / "journal" / "x"), RedisMarks(redis), dead.marks),
        embedder=EMBEDDER,
    )
    result = await recall.recall(Query(tenant="t_1", session="s", text="anything", now=NOW))
    assert (result.items, result.episodes) == ((), ())
    assert {"redis", "weaviate"} <= set(result.degraded)
    await dead.close()
    await redis.aclose()


async def test_another_models_vectors_are_a_mistake_and_not_a_gap(servers: Servers, tiers: Tiers) -> None:
    await tiers.longterm.open()
    other = longterm_of(servers, Embedding(name="other", dimension=384))
    with pytest.raises(EmbeddingMismatch):
        await tiers.recall(longterm=other).recall(tiers.query("anything"))
    await other.close()


async def test_the_activity_answers_for_the_user_who_asks_alone(servers: Servers, tiers: Tiers) -> None:
    key, redis = TenantKey(os.urandom(32)), connect(servers.redis_url)
    answers = Outputs(redis, timedelta(minutes=5), kind="answer")
    theirs = dataclasses.replace(tiers, tenant=key.tenant_of("ada"))
    ask = ActivityEnvironment().run
    activities = MemoryActivities(tiers.recall(), tiers.members(key, redis), answers)
    try:
        await theirs.know(*KNOWN)
        mine = await ask(activities.recall_memory, RecallRequest(user_id="ada", text="what is the user allergic to?"))
        other = await ask(activities.recall_memory, RecallRequest(user_id="bob", text="what is the user allergic to?"))
        found = RecallResult.model_validate(await answers.get(mine.tenant, mine.id))
        assert found.items[0].text == "The user is allergic to peanuts"
        assert RecallResult.model_validate(await answers.get(other.tenant, other.id)).items == ()
    finally:
        await tiers.longterm.drop_tenant(theirs.tenant)
        await redis.aclose()


async def test_an_answer_that_temporal_cannot_carry_is_refused_with_what_to_do(servers: Servers, tiers: Tiers) -> None:
    key, redis = TenantKey(os.urandom(32)), connect(servers.redis_url)
    theirs = dataclasses.replace(tiers, tenant=key.tenant_of("ada"))
    try:
        for number in range(0, 140, 20):
            large = [logged("k", payload={"n": n, "text": "x" * 15_900}) for n in range(number, number + 20)]
            await theirs.know(*large, journaled=False)
        activities = MemoryActivities(
            tiers.recall(), tiers.members(key, redis), Outputs(redis, timedelta(minutes=5), kind="answer")
        )
        request = RecallRequest(user_id="ada", lane=Lane.PATTERN, keys=("k",))
        with pytest.raises(ResultTooLarge, match="ask for fewer keys"):
            await ActivityEnvironment().run(activities.recall_memory, request)
    finally:
        await tiers.longterm.drop_tenant(theirs.tenant)
        await redis.aclose()


@pytest.mark.parametrize("content", [False, True])
async def test_spans_and_the_histogram(tiers: Tiers, content: bool) -> None:
    await tiers.know(*KNOWN, logged("a"))
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    traces, meters = TracerProvider(), MeterProvider(metric_readers=[reader])
    traces.add_span_processor(SimpleSpanProcessor(spans))
    telemetry = RecallTelemetry(content=content, tracer_provider=traces, meter_provider=meters)
    dead = connect(DEAD_REDIS)
    recall = tiers.recall(telemetry=telemetry, episodes=Episodes(dead))
    result = await recall.recall(tiers.query("peanuts", lane="pattern", keys=("a",)))

    found = {span.name: span for span in spans.get_finished_spans()}
    parent = found.pop("memory.recall")
    attributes = dict(parent.attributes or {})
    assert parent.kind is SpanKind.INTERNAL
    assert attributes["gen_ai.operation.name"] == "search_memory"
    assert attributes["gen_ai.memory.store.id"] == tiers.tenant
    assert attributes["gen_ai.conversation.id"] == "s"
    assert attributes["gen_ai.memory.record.count"] == len(result.items)
    assert attributes["perdure.recall.trigger"] == "too_few_exact"
    assert attributes["perdure.recall.degraded"] == ("redis",)
    assert attributes["perdure.recall.exact"] == 1
    assert {"weaviate.lookup", "weaviate.search", "embedding.embed", "redis.episodes"} <= found.keys()
    for span in found.values():
        assert span.kind is SpanKind.CLIENT
        assert span.parent is not None
        assert span.parent == parent.context
    assert dict(found["redis.episodes"].attributes or {})["error.type"] == "StoreUnavailable"
    told = " ".join(span.to_json() for span in spans.get_finished_spans())
    assert ("peanuts" in told) is content

    data: Any = reader.get_metrics_data()
    [metric] = data.resource_metrics[0].scope_metrics[0].metrics
    [point] = metric.data.data_points
    assert (metric.name, metric.unit, point.count) == ("memory.recall.duration", "s", 1)
    assert 0.1 in point.explicit_bounds
    await dead.aclose()
    meters.shutdown()
    traces.shutdown()


async def test_a_memory_id_is_its_own(tiers: Tiers) -> None:
    await tiers.know(KNOWN[0])
    [item] = (await tiers.recall().recall(tiers.query("peanuts"))).items
    assert item.id == item_id(tiers.tenant, KNOWN[0])


async def test_a_tenant_whose_vectors_cannot_be_searched_is_answered_by_words_and_repaired(
    tiers: Tiers, servers: Servers
) -> None:
    redis = connect(f"{servers.redis_url}/1")  # Where no other test's tenants are to be checked.
    checks = Checks(redis)
    stored = _entry(tiers.tenant, believed("The deploy freezes on Fridays"))
    collection = await collection_of(tiers.longterm, tiers.tenant, "memory")
    # An index that never got a vector fails every search by vector.
    await collection.data.insert_many(objects(tiers.tenant, [stored], {}))
    result = await tiers.recall(checks=checks).recall(tiers.query("when does the deploy freeze?"))
    assert [item.id for item in result.items] == [stored.id]
    assert result.degraded == ("vectors",)
    assert (result.items[0].found_by, "cosine" in result.items[0].parts) == (FoundBy.SEMANTIC, False)
    repair = Repair(
        longterm=tiers.longterm,
        embedder=EMBEDDER,
        journal=tiers.journal,
        leases=Leases(redis),
        checks=checks,
        due=DueIndex(redis),
        client_timeout=3,
    )
    assert await repair.check_next(datetime.now(UTC)) == tiers.tenant
    result = await tiers.recall().recall(tiers.query("when does the deploy freeze?"))
    assert (result.degraded, "cosine" in result.items[0].parts) == ((), True)
    await redis.aclose()
