"""What integration tests share: real stores, one tenant for each test."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.memory.audit.audit import Audit
from perdure.memory.audit.reader import shown
from perdure.memory.consent_book import ConsentBook
from perdure.memory.door import Door
from perdure.memory.forgetting.forgetter import Forgetter
from perdure.memory.forgetting.selection import Guard
from perdure.memory.membership import MemberBook
from perdure.memory.reconciliation.reconciler import Reconciler
from perdure.memory.repair import Repair
from perdure.memory.retention import RetentionRules
from perdure.memory.updates.updater import Updater
from perdure.memory.wholeness import Wholeness
from perdure.memory.write_policies import POLICIES, WritePolicy
from perdure.memory.writing.writer import Writer
from perdure.models.embedding import CachedEmbedder, Embedder
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.settings import Addresses
from perdure.stores.audit.chain import LABEL
from perdure.stores.audit.files import FOLDER
from perdure.stores.audit.lines import AuditLine
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import connect
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.redis.members import RedisMembers
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from tests.conftest import TENANT_KEY, Servers, journal_of
from tests.deployment import Deployment, deployment
from worker.gateway import Gateway
from worker.wiring.services import Services


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Everything that writes and forgets, on real servers."""

    redis: Redis
    longterm: LongTerm
    embedder: Embedder
    journal: Journal
    audit: Audit
    leases: Leases
    due: DueIndex
    deletions: Deletions
    checks: Checks
    repair: Repair
    whole: Wholeness
    reconciler: Reconciler
    door: Door
    writer: Writer
    forgetter: Forgetter
    updater: Updater


AnyStores = Stores | Services
"""Those of a test, or those of a worker."""


def member_book(redis: Redis, journal: Journal, whole: Wholeness, audit: Audit, key: TenantKey) -> MemberBook:
    """Return the members of everybody, on some stores."""
    return MemberBook(
        RedisMembers(redis),
        journal=journal,
        leases=Leases(redis),
        whole=whole,
        audit=audit,
        key=key,
    )


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    """Everything that a worker has, and the worker; a file of tests that needs another one has its own."""
    async with deployment(servers, tmp_path / "home") as one:
        yield one


@pytest.fixture
async def gateway(here: Deployment, servers: Servers) -> AsyncGenerator[Gateway]:
    async with Gateway(here.settings, servers) as one:
        yield one


@pytest.fixture
def user() -> str:
    return f"user {uuid4().hex}"


@pytest.fixture
def team() -> str:
    return f"team:{uuid4().hex[:12]}"


@pytest.fixture
async def stores(servers: Servers, tmp_path: Path) -> AsyncGenerator[Stores]:
    async with open_stores(servers, tmp_path) as opened:
        yield opened


@asynccontextmanager
async def open_stores(servers: Addresses, tmp_path: Path) -> AsyncGenerator[Stores]:
    """Open everything on some servers, which may be a test's own, as a worker's process does."""
    redis = connect(servers.redis_url)
    embedder = CachedEmbedder(MiniLMEmbedder(), 1000)
    longterm = LongTerm(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=Embedding(name=embedder.name, dimension=embedder.dimension),
        api_key=servers.weaviate_api_key,
    )
    await longterm.prepare()
    folder = journal_of(servers, tmp_path)
    due, deletions, marks = DueIndex(redis), Deletions(redis), RedisMarks(redis)
    journal = Journal(folder, shared=marks.journal)
    whole = Wholeness(JournalMarks(folder), marks, longterm.marks)
    await whole.begin(TenantKey(TENANT_KEY))
    leases, rules = Leases(redis), RetentionRules()
    audit, checks = Audit(folder / FOLDER, TenantKey(TENANT_KEY), AuditHeads(redis)), Checks(redis)
    repair = Repair(
        longterm=longterm, embedder=embedder, journal=journal, leases=leases, checks=checks, due=due, client_timeout=3
    )
    door = Door(
        longterm=longterm,
        journal=journal,
        deletions=deletions,
        leases=leases,
        due=due,
        repair=repair,
        whole=whole,
        rules=rules,
        client_timeout=3,
        audit=audit,
    )
    consents = ConsentBook(RedisConsents(redis), journal, leases, whole, audit)
    yield Stores(
        redis=redis,
        longterm=longterm,
        embedder=embedder,
        journal=journal,
        audit=audit,
        leases=leases,
        due=due,
        deletions=deletions,
        checks=checks,
        repair=repair,
        whole=whole,
        reconciler=Reconciler(
            longterm=longterm,
            journal=journal,
            deletions=deletions,
            consents=RedisConsents(redis),
            members=member_book(redis, journal, whole, audit, TenantKey(TENANT_KEY)),
            leases=leases,
            due=due,
            repair=repair,
            grace=timedelta(days=30),
            client_timeout=3,
            audit=audit,
        ),
        door=door,
        writer=Writer(
            longterm=longterm,
            embedder=embedder,
            door=door,
            repair=repair,
            deletions=deletions,
            erasures=RedisErasures(redis),
            consents=consents,
            policies=POLICIES,
        ),
        forgetter=Forgetter(
            longterm=longterm,
            door=door,
            deletions=deletions,
            rules=rules,
            guard=Guard(),
            grace=timedelta(days=30),
        ),
        updater=Updater(
            longterm=longterm,
            embedder=embedder,
            journal=journal,
            door=door,
            consents=consents,
            grace=timedelta(days=30),
            policy=WritePolicy(),
        ),
    )
    await whole.end()
    await audit.close()
    await longterm.close()
    await redis.aclose()


def audited(servers: Addresses, tmp_path: Path, tenant: str) -> list[AuditLine]:
    """Return the lines of the audit about a tenant's memories, in the order of their times."""
    return shown(journal_of(servers, tmp_path) / FOLDER, TenantKey(TENANT_KEY).derived(LABEL), tenant)
