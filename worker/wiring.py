"""Wiring: from settings and addresses to the services and activities of a process. Holds no logic."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from inspect import getmembers, iscoroutinefunction
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from temporalio.client import Client

import playbooks
from activities.accesses import AccessActivities
from activities.episodes import StepNotes
from activities.erasing import ErasingActivities
from activities.forgetting import ForgettingActivities
from activities.jobs import IngestActivities
from activities.memory import MemoryActivities
from activities.reconciling import ReconcilingActivities
from activities.redating import RedatingActivities
from activities.steps import RecallStepActivities, StepActivities
from activities.tasks import EvaluationActivities, TaskActivities
from activities.updating import UpdatingActivities
from perdure.agent.steps.runner import StepRunner
from perdure.agent.steps.values import Values
from perdure.losses import Store
from perdure.memory.consenting import ConsentBook
from perdure.memory.door import Door
from perdure.memory.erasing.eraser import Eraser
from perdure.memory.forgetting.forgetter import Forgetter
from perdure.memory.forgetting.selection import Guard
from perdure.memory.policies import WritePolicy
from perdure.memory.recall.service import Recall
from perdure.memory.recall.telemetry import Telemetry
from perdure.memory.reconciling.reconciler import Reconciler
from perdure.memory.repair import Repair
from perdure.memory.updating.updater import Updater
from perdure.memory.wholeness import Wholeness
from perdure.memory.writing.intake import Intake
from perdure.memory.writing.writer import Writer
from perdure.models.embedding import CachedEmbedder, Embedder, open_embedder
from perdure.names import DEFAULT_POLICY, RESERVED
from perdure.settings import Addresses, Settings
from perdure.skills.library import SkillLibrary
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.journal.values import ValueFiles
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.active import ActiveTenants
from perdure.stores.redis.bindings import TaskBindings
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.claims import Claims
from perdure.stores.redis.connection import connect
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.installation import Installation
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.redis.outputs import Outputs
from perdure.stores.redis.sessions import SessionWrites
from perdure.stores.redis.sweeps import SweepTurn
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.resting import most_active
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.tools import Toolbox
from worker.policies import policies_of, rules_of

WRITE_SECONDS = 3.0
"""The longest that one write of 50 objects to Weaviate may take (0.03 s measured); twice that must be left of the
10 s that a lease lasts."""

RESULTS_KEPT = timedelta(minutes=5)
"""How long the result of a recall waits to be fetched by a caller without the tenant key, who does so at once."""

_CACHED_VECTORS = 4_000
"""Vectors of one process: planning a batch and applying it embed each text once (6 MB at 384 numbers)."""


@dataclass(frozen=True, kw_only=True)
class Reading:
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
    recall: Recall


@dataclass(frozen=True, kw_only=True)
class Services(Reading):
    """Every service of a worker, on real stores."""

    leases: Leases
    door: Door
    notes: StepNotes
    writer: Writer
    intake: Intake
    repair: Repair
    forgetter: Forgetter
    updater: Updater
    policies: Mapping[str, WritePolicy]
    erasures: RedisErasures
    eraser: Eraser
    reconciler: Reconciler
    due: DueIndex
    bindings: TaskBindings
    claims: Claims
    outputs: Outputs
    results: Outputs
    """Results of recall, kept until their caller fetches them."""
    toolbox: Toolbox
    skills: SkillLibrary

    async def belongs(self) -> None:
        """Make sure that this process belongs to the installation whose stores it uses, and has nobody who was erased.

        Raises:
            TenantKeyMismatch: It has another tenant key.
            JournalMismatch: It has another journal.
            StoreLost: The journal's folder does not hold it.
            StoreUnavailable: A store does not answer.
        """
        await self.whole.begin(self.tenant_key)
        await self.installation.check(self.tenant_key)
        await self.eraser.apply()

    async def prepare(self) -> None:
        """Bring the collections up to what this build needs; those that were lost are made when they are rebuilt.

        Raises:
            EmbeddingMismatch: They were made with another model.
            SchemaMismatch: They cannot be brought up to it.
            StoreUnavailable: Weaviate does not answer.
        """
        if not await self.whole.lost(Store.WEAVIATE):
            await self.longterm.prepare()


@asynccontextmanager
async def open_reading(settings: Settings, addresses: Addresses, key: TenantKey) -> AsyncGenerator[Reading]:
    """Connect to the stores, and close the connections in the end. Nothing is asked of a store yet.

    Raises:
        InvalidInput: A setting names an embedding model that is not there.
    """
    redis = connect(addresses.redis_url)
    embedder = CachedEmbedder(embedder_of(settings), _CACHED_VECTORS)
    longterm = longterm_of(addresses, redis, embedder)
    journal, spool, episodes = Journal(settings.journal_folder), Spool(settings.home / "spool"), Episodes(redis)
    checks, deletions = Checks(redis), Deletions(redis)
    whole = Wholeness(JournalMarks(settings.journal_folder), RedisMarks(redis), longterm.marks)
    consents = ConsentBook(RedisConsents(redis), journal, Leases(redis), whole)
    recall = Recall(
        consents=consents,
        longterm=longterm,
        episodes=episodes,
        journal=journal,
        spool=spool,
        checks=checks,
        deletions=deletions,
        whole=whole,
        embedder=embedder,
        policy=policies_of(settings)[DEFAULT_POLICY],
        limit_seconds=settings.recall_seconds,
        min_confidence=settings.min_confidence,
        rules=rules_of(settings),
        accesses=Accesses(redis),
        telemetry=Telemetry(content=settings.trace_content),
    )
    try:
        yield Reading(
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
            recall=recall,
        )
    finally:
        await recall.noted()
        await longterm.close()
        await redis.aclose()


@asynccontextmanager
async def open_services(settings: Settings, addresses: Addresses) -> AsyncGenerator[Services]:
    """Open all that a worker needs, as ``open_reading`` does; the tenant key is made where there is none yet.

    Raises:
        InvalidInput: A setting names a tool module or an embedding model that is not there.
    """
    key = TenantKey.load_or_create(settings.tenant_key_file)
    async with open_reading(settings, addresses, key) as reading:
        redis, longterm = reading.redis, reading.longterm
        due, deletions, leases, rules = DueIndex(redis), reading.deletions, Leases(redis), rules_of(settings)
        erasures = RedisErasures(redis)
        ttl, policies = timedelta(days=settings.claim_ttl_days), policies_of(settings)
        repair = Repair(
            longterm=longterm,
            embedder=reading.embedder,
            journal=reading.journal,
            leases=leases,
            checks=reading.checks,
            client_timeout=WRITE_SECONDS,
        )
        door = Door(
            longterm=longterm,
            journal=reading.journal,
            deletions=deletions,
            leases=leases,
            due=due,
            repair=repair,
            whole=reading.whole,
            rules=rules,
            client_timeout=WRITE_SECONDS,
        )
        yield Services(
            **vars(reading),
            leases=leases,
            door=door,
            notes=StepNotes(reading.episodes, reading.spool),
            writer=Writer(
                longterm=longterm,
                embedder=reading.embedder,
                door=door,
                repair=repair,
                deletions=deletions,
                erasures=erasures,
                policy=policies[DEFAULT_POLICY],
            ),
            intake=Intake(policies, SessionWrites(redis), reading.consents),
            repair=repair,
            forgetter=Forgetter(
                longterm=longterm,
                door=door,
                deletions=deletions,
                rules=rules,
                guard=Guard(fraction=settings.forgetting_guard),
                grace=timedelta(days=settings.forgetting_grace_days),
            ),
            updater=Updater(
                longterm=longterm,
                embedder=reading.embedder,
                journal=reading.journal,
                door=door,
                grace=timedelta(days=settings.forgetting_grace_days),
            ),
            policies=policies,
            erasures=erasures,
            eraser=Eraser(
                longterm=longterm,
                redis=redis,
                journal=reading.journal,
                spool=reading.spool,
                leases=leases,
                logs={
                    Store.JOURNAL: ErasureLog(settings.journal_folder),
                    Store.REDIS: erasures,
                    Store.WEAVIATE: longterm.erasures,
                },
            ),
            reconciler=Reconciler(
                longterm=longterm,
                journal=reading.journal,
                deletions=deletions,
                consents=RedisConsents(redis),
                leases=leases,
                due=due,
                repair=repair,
                grace=timedelta(days=settings.forgetting_grace_days),
                client_timeout=WRITE_SECONDS,
            ),
            due=due,
            bindings=TaskBindings(redis, ttl),
            claims=Claims(redis, ttl),
            outputs=Outputs(redis, ttl, files=ValueFiles(settings.journal_folder)),
            results=Outputs(redis, RESULTS_KEPT, kind="result"),
            toolbox=toolbox_of(settings),
            skills=skills_of(settings),
        )


def embedder_of(settings: Settings) -> Embedder:
    """Open the embedding model.

    Raises:
        InvalidInput: It is not there.
    """
    api_key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return open_embedder(settings.embedding, api_key=api_key, base_url=settings.openai_base_url)


def longterm_of(addresses: Addresses, redis: Redis, embedder: Embedder) -> LongTerm:
    """Return long-term memory, which connects when first asked."""
    return LongTerm(
        addresses.weaviate_url,
        addresses.weaviate_grpc_port,
        embedding=Embedding(name=embedder.name, dimension=embedder.dimension),
        api_key=addresses.weaviate_api_key,
        write_timeout=WRITE_SECONDS,
        active=ActiveTenants(redis),
        most_active=most_active(addresses.weaviate_open_files),
    )


def toolbox_of(settings: Settings) -> Toolbox:
    """Load the tools.

    Raises:
        InvalidInput: A module with tools is not there, or cannot be used.
    """
    return Toolbox.load(settings.tools, reserved=RESERVED)


def skills_of(settings: Settings) -> SkillLibrary:
    """Return the library of the configured skills and of those that come with Perdure."""
    return SkillLibrary((*settings.skills, Path(playbooks.__file__).parent / "skills"))


def activities(services: Services, client: Client, settings: Settings) -> list[Callable[..., Any]]:
    """Return every activity of a worker."""
    values = Values(services.outputs)
    runner = StepRunner(services.toolbox, services.claims, values, services.whole.redis_since, services.whole.claimed)
    steps = StepActivities(services.toolbox, runner, services.notes, attempts=settings.tool_attempts)
    others = (
        TaskActivities(
            services.skills,
            services.toolbox,
            services.tenant_key,
            values,
            services.bindings,
            client,
            services.whole,
            services.erasures,
            heartbeat=settings.heartbeat_timeout,
            continue_after=settings.continue_after,
        ),
        RecallStepActivities(runner, services.recall),
        MemoryActivities(services.recall, services.tenant_key, services.results),
        EvaluationActivities(runner),
        IngestActivities(
            client=client,
            task_queue=settings.task_queue,
            tenant_key=services.tenant_key,
            journal=services.journal,
            leases=services.leases,
            writer=services.writer,
            intake=services.intake,
        ),
        ReconcilingActivities(
            whole=services.whole,
            reconciler=services.reconciler,
            eraser=services.eraser,
            longterm=services.longterm,
            journal=services.journal,
            tenant_key=services.tenant_key,
        ),
        UpdatingActivities(
            updater=services.updater,
            consents=services.consents,
            tenant_key=services.tenant_key,
            policy=services.policies[DEFAULT_POLICY],
        ),
        ErasingActivities(client=client, eraser=services.eraser, tenant_key=services.tenant_key),
        AccessActivities(accesses=Accesses(services.redis), door=services.door),
        RedatingActivities(
            forgetter=services.forgetter, longterm=services.longterm, due=services.due, whole=services.whole
        ),
        ForgettingActivities(
            client=client,
            forgetter=services.forgetter,
            whole=services.whole,
            turn=SweepTurn(services.redis),
            due=services.due,
            deletions=services.deletions,
            tenant_key=services.tenant_key,
        ),
    )
    return [*steps.activities(), *(activity for one in others for activity in _public_coroutines(one))]


def _public_coroutines(one: object) -> list[Callable[..., Any]]:
    """Return the activities of an object. Temporal's worker refuses a method that is not one."""
    return [method for name, method in getmembers(one, iscoroutinefunction) if not name.startswith("_")]
