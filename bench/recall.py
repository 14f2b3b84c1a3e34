"""Recall, next to the same searches written by hand.

One user has 10,000 memories, in sentences that people wrote: the documentation of the standard library. The product
and the floor answer the same questions in turn. The floor embeds the question and sends the same searches to Weaviate;
it does not rank, explain or render, and it reads no episodes.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import weaviate
from redis.asyncio import Redis
from weaviate.classes.init import Auth
from weaviate.classes.query import Filter, MetadataQuery

from bench import bulk
from bench.sentences import sentences
from perdure.identity import memory_id, record_id
from perdure.memory.audit.audit import Audit
from perdure.memory.consent_book import ConsentBook
from perdure.memory.recall.query import Query
from perdure.memory.recall.service import Recall
from perdure.memory.retention import RetentionRules
from perdure.memory.wholeness import Wholeness
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.settings import Addresses
from perdure.stores.audit.files import FOLDER as AUDIT
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import connect
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Record, Source, headline_of
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.items import PatternItem, record_text
from perdure.words import stems

_MEMORIES = 9_000
_RECORDS = 1_000
_QUESTIONS = 250
_MANY = 100_000
_WARMING = 15
"""Questions before those that are measured: the first ones fill the server's caches."""
_PREFIX = "PerdureBench"
_FRESH_ROUNDS = 4
_FRESH_PAIRS = 15
_FLUSHED_PAIRS = 180
_CANDIDATES = 30
"""The number of results that recall requests from each search."""


@dataclass(frozen=True, kw_only=True)
class _Timings:
    ours: list[float]
    floor: list[float]

    def ratio(self, share: float) -> float:
        return round(_percentile(self.ours, share) / _percentile(self.floor, share), 3)


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both, with entries just written and with entries flushed to disk."""
    entries, questions = _corpus()
    tenant = f"t_{uuid4().hex}"
    embedder = MiniLMEmbedder()
    embedding = Embedding(name=embedder.name, dimension=embedder.dimension)
    host = urlsplit(addresses.weaviate_url)
    key = addresses.weaviate_api_key.get_secret_value() if addresses.weaviate_api_key else None
    async with AsyncExitStack() as stack:
        longterm = LongTerm(
            addresses.weaviate_url,
            addresses.weaviate_grpc_port,
            embedding=embedding,
            api_key=addresses.weaviate_api_key,
            prefix=_PREFIX,
            query_timeout=30,
            write_timeout=120,
        )
        stack.push_async_callback(longterm.close)
        await longterm.prepare()
        redis = connect(addresses.redis_url)
        stack.push_async_callback(redis.aclose)
        client = weaviate.use_async_with_custom(
            http_host=host.hostname or "",
            http_port=host.port or 80,
            http_secure=False,
            grpc_host=host.hostname or "",
            grpc_port=addresses.weaviate_grpc_port,
            grpc_secure=False,
            auth_credentials=Auth.api_key(key) if key else None,
            skip_init_checks=True,
        )
        await client.connect()
        stack.push_async_callback(client.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        recall, audit = await _services(folder, redis, longterm, embedder)
        stack.push_async_callback(audit.close)
        stack.push_async_callback(recall.settled)
        await _remember_session(Episodes(redis), tenant)
        vectors = await embedder.embed([headline_of(entry.text) for entry in entries])
        by_id = {entry.id: vector for entry, vector in zip(entries, vectors, strict=True)}
        collections = [client.collections.use(f"{_PREFIX}{kind}").with_tenant(tenant) for kind in ("Record", "Memory")]

        async def ours(question: str) -> None:
            query = Query(tenant=tenant, session="bench", text=question, now=datetime.now(UTC))
            result = await recall.recall(query)
            if result.degraded or not result.items:
                raise RuntimeError(f"recall returned {len(result.items)} items, degraded: {result.degraded}")

        async def floor(question: str) -> None:
            [vector] = await embedder.embed([question])
            await asyncio.gather(*_searches(collections, question, vector))

        fresh = _Timings(ours=[], floor=[])
        for number in range(_FRESH_ROUNDS):
            # Written again in each round: entries are flushed after a while.
            await longterm.put(tenant, entries, by_id)
            if number == 0:
                continue  # The first round only warms everything up.
            asked = questions[number * _FRESH_PAIRS : (number + 1) * _FRESH_PAIRS]
            await _in_turn(fresh, asked, ours, floor)
        await _until_flushed(addresses.weaviate_url, key, collections, tenant, questions)
        flushed = _Timings(ours=[], floor=[])
        await _in_turn(flushed, questions[-_FLUSHED_PAIRS:], ours, floor)
        await longterm.drop_tenant(tenant)
        large = await _of_many(longterm, recall, addresses, questions[-_FLUSHED_PAIRS:])
        embedder.close()
    return {
        "recall.p50_ms": _percentile(flushed.ours, 0.5),
        "recall.p95_ms": _percentile(flushed.ours, 0.95),
        "recall.p95_ms_at_100k": _percentile(large, 0.95),
        "recall.p50_fresh_ms": _percentile(fresh.ours, 0.5),
        "recall.p95_fresh_ms": _percentile(fresh.ours, 0.95),
        "recall.floor_p50_ms": _percentile(flushed.floor, 0.5),
        "recall.floor_p95_ms": _percentile(flushed.floor, 0.95),
        "recall.ratio_p50": flushed.ratio(0.5),
        "recall.ratio_p95": flushed.ratio(0.95),
        "recall.ratio_p50_fresh": fresh.ratio(0.5),
        "recall.ratio_p95_fresh": fresh.ratio(0.95),
    }


async def _services(folder: Path, redis: Redis, longterm: LongTerm, embedder: MiniLMEmbedder) -> tuple[Recall, Audit]:
    """Return recall as the product wires it, over collections of its own, and the audit that it tells."""
    journal, leases = Journal(folder / "journal"), Leases(redis)
    whole = Wholeness(JournalMarks(folder / "journal"), RedisMarks(redis), longterm.marks)
    key = TenantKey.load_or_create(folder / "tenant.key")
    # An audit is written only next to a journal. That of recall is never begun: the other sections' installation has
    # the stores, and the collections here belong to none.
    await JournalMarks(folder / "audited").begin(key.fingerprint)
    audit = Audit(folder / "audited" / AUDIT, key, AuditHeads(redis))
    recall = Recall(
        longterm=longterm,
        episodes=Episodes(redis),
        journal=journal,
        spool=Spool(folder / "spool", ErasureLog(folder / "journal")),
        checks=Checks(redis),
        deletions=Deletions(redis),
        leases=leases,
        whole=whole,
        embedder=embedder,
        limit_seconds=60,
        consents=ConsentBook(RedisConsents(redis), journal, leases, whole, audit),
        accesses=Accesses(redis),
        audit=audit,
    )
    return recall, audit


async def _of_many(longterm: LongTerm, recall: Recall, addresses: Addresses, questions: Sequence[str]) -> list[float]:
    """Return the milliseconds of recalls by a user with 100,000 memories, flushed to disk."""
    tenant, now = f"t_{uuid4().hex}", datetime.now(UTC)
    entries = bulk.memories(_MANY, start=0, now=now, rules=RetentionRules())
    await bulk.insert(longterm, tenant, entries, bulk.vectors(MiniLMEmbedder.dimension, seed=1))
    await bulk.until_flushed(addresses, tenant, _MANY)
    times: list[float] = []
    for number, question in enumerate((*questions[:_WARMING], *questions)):
        query = Query(tenant=tenant, session="bench", text=question, now=datetime.now(UTC))
        result = await recall.recall(query)
        if result.degraded or not result.items:
            raise RuntimeError(f"recall returned {len(result.items)} items, degraded: {result.degraded}")
        if number >= _WARMING:
            times.append(result.milliseconds)
    await longterm.drop_tenant(tenant)
    return times


def _searches(collections: Sequence[Any], text: str, vector: Sequence[float]) -> Iterator[Awaitable[Any]]:
    condition = (
        Filter.by_property("state").equal("current")
        & Filter.by_property("valid_until").greater_than(int(time.time() * 1_000_000))
        & Filter.by_property("confidence").greater_or_equal(0.7)
    )
    wanted = ["text", "document"]
    for collection in collections:
        yield collection.query.near_vector(
            near_vector=vector,
            limit=_CANDIDATES,
            filters=condition,
            return_properties=wanted,
            return_metadata=MetadataQuery(distance=True),
        )
        yield collection.query.bm25(
            query=" ".join(stems(text)),
            query_properties=["words"],
            limit=_CANDIDATES,
            filters=condition,
            return_properties=wanted,
            return_metadata=MetadataQuery(score=True),
        )


async def _in_turn(
    timings: _Timings,
    questions: Sequence[str],
    ours: Callable[[str], Awaitable[None]],
    floor: Callable[[str], Awaitable[None]],
) -> None:
    for number, question in enumerate(questions):
        pair = [(ours, timings.ours), (floor, timings.floor)]
        # The second one profits from what the first one left in the server's cache.
        for ask, found in pair if number % 2 else reversed(pair):
            started = time.perf_counter()
            await ask(question)
            found.append((time.perf_counter() - started) * 1000.0)


async def _until_flushed(
    url: str, key: str | None, collections: Sequence[Any], tenant: str, questions: Sequence[str]
) -> None:
    """Wait until the objects are in segments and word search gets no faster."""
    deadline = time.monotonic() + 180
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        while time.monotonic() < deadline:
            nodes = (await http.get("/v1/nodes", params={"output": "verbose"})).json()["nodes"]
            shards = [shard for node in nodes for shard in node.get("shards") or () if shard["name"] == tenant]
            if sum(shard["objectCount"] for shard in shards) >= _MEMORIES + _RECORDS:
                break
            await asyncio.sleep(0.5)
    calm = 0
    last = float("inf")
    while calm < 4 and time.monotonic() < deadline:
        times: list[float] = []
        for question in questions[:15]:
            started = time.perf_counter()
            for collection in collections:
                await collection.query.bm25(query=question, query_properties=["words"], limit=_CANDIDATES)
            times.append(time.perf_counter() - started)
        now = statistics.median(times)
        calm = calm + 1 if now > 0.85 * last else 0
        last = min(last, now)
        await asyncio.sleep(1)


async def _remember_session(episodes: Episodes, tenant: str) -> None:
    now = datetime.now(UTC)
    for number in range(40):
        episode = Episode(
            id=f"step-{number}",
            kind=EpisodeKind.TOOL,
            text=f"Step {number} read a page of the documentation and found nothing that was new.",
            importance=(number % 10) / 10,
            at=now - timedelta(minutes=40 - number),
        )
        await episodes.append(tenant, "bench", episode)


def _corpus() -> tuple[list[Entry], list[str]]:
    chance = random.Random(7)
    real = sentences()
    chance.shuffle(real)
    wanted = _MEMORIES + _RECORDS + _QUESTIONS
    if len(real) < wanted:
        raise RuntimeError(f"this interpreter's documentation has only {len(real)} sentences of {wanted}")
    now = datetime.now(UTC)
    tenant = "bench"
    entries: list[Entry] = []
    for number, sentence in enumerate(real[: _MEMORIES + _RECORDS]):
        at = now - timedelta(days=chance.random() * 120)
        common: dict[str, Any] = {
            "first_seen": at,
            "last_seen": at,
            "confidence": round(0.6 + 0.4 * chance.random(), 2),
            "access_count": chance.randrange(60),
            "occurrences": (f"occ_{number:064}",),
            "operations": (f"op_{number:032}",),
        }
        if number < _MEMORIES:
            kind = chance.choice(list(MemoryType))
            entries.append(
                Memory(
                    id=memory_id(tenant, kind, sentence),
                    text=sentence,
                    memory_type=kind,
                    source=Source.LEARNED,
                    tags=("docs",),
                    **common,
                )
            )
            continue
        item = PatternItem(
            lane=Lane.PATTERN,
            key=f"page-{number}",
            payload={"page": number, "result": "read"},
            summary=sentence,
            occurrence=str(number),
            occurred_at=at,
        )
        entries.append(
            Record(
                id=record_id(tenant, item.lane, item.key, item.payload),
                text=record_text(item),
                lane=item.lane,
                key=item.key,
                payload=item.payload,
                task="bench",
                **common,
            )
        )
    questions = [" ".join(sentence.split()[:14]) for sentence in real[_MEMORIES + _RECORDS :][:_QUESTIONS]]
    return entries, questions


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)
