"""The services of a process that reads memory."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from redis.asyncio import Redis

from perdure.memory.audit.audit import Audit
from perdure.memory.consent_book import ConsentBook
from perdure.memory.membership import MemberBook
from perdure.memory.recall.service import Recall
from perdure.memory.recall.telemetry import RecallTelemetry
from perdure.memory.wholeness import Wholeness
from perdure.models.embedding import CachedEmbedder, Embedder
from perdure.settings import Addresses, Settings
from perdure.stores.audit.files import FOLDER
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
from perdure.stores.redis.installation import Installation
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.redis.members import RedisMembers
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.store import LongTerm
from worker.policies import policies_of, rules_of
from worker.wiring.parts import embedder_of, longterm_of

RESULTS_KEPT = timedelta(minutes=5)
"""How long the result of a recall waits to be fetched by a caller without the tenant key, who does so at once."""


_CACHED_VECTORS = 4_000
"""Vectors of one process: planning a batch and applying it embed each text once (6 MB at 384 numbers)."""


@dataclass(frozen=True, kw_only=True)
class ReadingServices:
    """The services of a process that reads memory and never writes it."""

    redis: Redis
    installation: Installation
    tenant_key: TenantKey
    embedder: Embedder
    longterm: LongTerm
    journal: Journal
    spool: Spool
    episodes: Episodes
    checks: Checks
    deletions: Deletions
    whole: Wholeness
    consents: ConsentBook
    members: MemberBook
    audit: Audit
    recall: Recall


@asynccontextmanager
async def open_reading(settings: Settings, addresses: Addresses, key: TenantKey) -> AsyncGenerator[ReadingServices]:
    """Connect to the stores, and close the connections in the end. Nothing is asked of a store yet.

    Raises:
        InvalidInput: A setting names an embedding model that is not there.
    """
    redis = connect(addresses.redis_url)
    embedder = CachedEmbedder(embedder_of(settings), _CACHED_VECTORS)
    longterm = longterm_of(settings, addresses, redis, embedder)
    marks, episodes = RedisMarks(redis), Episodes(redis)
    journal = Journal(settings.journal_folder, shared=marks.journal)
    spool = Spool(settings.home / "spool", ErasureLog(settings.journal_folder))
    checks, deletions = Checks(redis), Deletions(redis)
    whole = Wholeness(JournalMarks(settings.journal_folder), marks, longterm.marks)
    leases = Leases(redis)
    audit = Audit(settings.journal_folder / FOLDER, key, AuditHeads(redis))
    consents = ConsentBook(RedisConsents(redis), journal, leases, whole, audit)
    members = MemberBook(
        RedisMembers(redis),
        journal=journal,
        leases=leases,
        whole=whole,
        audit=audit,
        key=key,
    )
    recall = Recall(
        consents=consents,
        longterm=longterm,
        episodes=episodes,
        journal=journal,
        spool=spool,
        checks=checks,
        deletions=deletions,
        leases=leases,
        whole=whole,
        embedder=embedder,
        policies=policies_of(settings),
        limit_seconds=settings.recall_seconds,
        min_confidence=settings.min_confidence,
        rules=rules_of(settings),
        accesses=Accesses(redis),
        telemetry=RecallTelemetry(content=settings.trace_content),
        audit=audit,
    )
    try:
        yield ReadingServices(
            redis=redis,
            installation=Installation(redis),
            tenant_key=key,
            embedder=embedder,
            longterm=longterm,
            journal=journal,
            spool=spool,
            episodes=episodes,
            checks=checks,
            deletions=deletions,
            whole=whole,
            consents=consents,
            members=members,
            audit=audit,
            recall=recall,
        )
    finally:
        await recall.settled()
        await whole.end()
        await audit.close()
        await longterm.close()
        await redis.aclose()
