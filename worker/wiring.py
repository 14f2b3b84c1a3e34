"""What is connected to what: from settings and addresses to the activities of a worker. Holds no logic."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from temporalio.client import Client

import playbooks
from activities.episodes import StepNotes
from activities.forgetting import ForgettingActivities
from activities.jobs import IngestActivities
from activities.memory import RecallActivities
from activities.steps import RecallStepActivities, StepActivities
from activities.tasks import EvaluationActivities, TaskActivities
from perdure.agent.steps.runner import StepRunner
from perdure.agent.steps.values import Values
from perdure.memory.door import Door
from perdure.memory.forgetting.forgetter import Forgetter
from perdure.memory.forgetting.selection import Guard
from perdure.memory.recall.service import Recall
from perdure.memory.recall.telemetry import Telemetry
from perdure.memory.retention import RetentionRules
from perdure.memory.writing.planning import WritePolicy
from perdure.memory.writing.writer import Writer
from perdure.models.embedding import CachedEmbedder, Embedder
from perdure.models.embedding.opening import open_embedder
from perdure.settings import Addresses, Settings
from perdure.skills.library import SkillLibrary
from perdure.stores.journal.log import Journal
from perdure.stores.redis.claims import Claims
from perdure.stores.redis.connection import connect
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.installation import Installation
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.outputs import Outputs
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.tools import Toolbox
from workflows.forget_memory import ForgetMemory
from workflows.ingest_memory import IngestMemory
from workflows.resumable_agent import ResumableAgent
from workflows.undo_forgetting import UndoForgetting

WORKFLOWS: Sequence[type] = (ResumableAgent, IngestMemory, ForgetMemory, UndoForgetting)

WRITE_SECONDS = 3.0
"""The longest that one write of 50 objects to Weaviate may take (0.03 s measured); twice that must be left of the
10 s that a lease lasts."""

_CACHED_VECTORS = 4_000
"""Vectors of one process: planning a batch and applying it embed each text once (6 MB at 384 numbers)."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """Every service of one process, on real stores."""

    redis: Redis
    installation: Installation
    tenant_key: TenantKey
    embedder: Embedder
    longterm: LongTerm
    journal: Journal
    spool: Spool
    leases: Leases
    episodes: Episodes
    notes: StepNotes
    recall: Recall
    writer: Writer
    forgetter: Forgetter
    deletions: Deletions
    due: DueIndex
    claims: Claims
    outputs: Outputs
    toolbox: Toolbox
    skills: SkillLibrary

    async def belongs(self) -> None:
        """Make sure that this process belongs to the installation whose stores it uses.

        Raises:
            TenantKeyMismatch: It has another tenant key.
            JournalMismatch: It has another journal.
            StoreUnavailable: Redis does not answer, or the journal's folder cannot be used.
        """
        await self.installation.check(self.tenant_key)
        await self.installation.check_journal(self.journal)


@asynccontextmanager
async def open_services(settings: Settings, addresses: Addresses) -> AsyncGenerator[Services]:
    """Connect to the stores, and close the connections in the end. Nothing is asked of a store yet.

    Raises:
        InvalidInput: A setting names a tool module or an embedding model that is not there.
    """
    redis = connect(addresses.redis_url)
    api_key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    embedder = CachedEmbedder(
        open_embedder(settings.embedding, api_key=api_key, base_url=settings.openai_base_url), _CACHED_VECTORS
    )
    longterm = LongTerm(
        addresses.weaviate_url,
        addresses.weaviate_grpc_port,
        embedding=Embedding(name=embedder.name, dimension=embedder.dimension),
        api_key=addresses.weaviate_api_key.get_secret_value() if addresses.weaviate_api_key else None,
        write_timeout=WRITE_SECONDS,
    )
    journal, spool, episodes = Journal(settings.journal_folder), Spool(settings.home / "spool"), Episodes(redis)
    due, deletions, rules = DueIndex(redis), Deletions(redis), RetentionRules()
    ttl = timedelta(days=settings.claim_ttl_days)
    leases, policy = Leases(redis), WritePolicy()
    door = Door(
        longterm=longterm,
        journal=journal,
        deletions=deletions,
        leases=leases,
        due=due,
        rules=rules,
        client_timeout=WRITE_SECONDS,
    )
    services = Services(
        redis=redis,
        installation=Installation(redis),
        tenant_key=TenantKey.load_or_create(settings.home / "tenant.key"),
        embedder=embedder,
        longterm=longterm,
        journal=journal,
        spool=spool,
        leases=leases,
        episodes=episodes,
        notes=StepNotes(episodes, spool),
        recall=Recall(
            longterm=longterm,
            episodes=episodes,
            journal=journal,
            spool=spool,
            embedder=embedder,
            policy=policy,
            limit_seconds=settings.recall_seconds,
            telemetry=Telemetry(content=settings.trace_content),
        ),
        writer=Writer(longterm=longterm, embedder=embedder, door=door, deletions=deletions, policy=policy),
        forgetter=Forgetter(
            longterm=longterm,
            door=door,
            deletions=deletions,
            rules=rules,
            guard=Guard(fraction=settings.forgetting_guard),
            grace=timedelta(days=settings.forgetting_grace_days),
        ),
        deletions=deletions,
        due=due,
        claims=Claims(redis, ttl),
        outputs=Outputs(redis, ttl),
        toolbox=Toolbox.load(settings.tools),
        skills=SkillLibrary((*settings.skills, packaged_skills())),
    )
    try:
        yield services
    finally:
        await longterm.close()
        await redis.aclose()


def packaged_skills() -> Path:
    """Give the folder of the skills that come with Perdure."""
    return Path(playbooks.__file__).parent / "skills"


def activities(services: Services, client: Client, settings: Settings) -> list[Callable[..., Any]]:
    """Give every activity of a worker."""
    values = Values(services.outputs)
    runner = StepRunner(services.toolbox, services.claims, values)
    steps = StepActivities(services.toolbox, runner, services.notes, attempts=settings.tool_attempts)
    tasks = TaskActivities(
        services.skills,
        services.toolbox,
        services.tenant_key,
        values,
        heartbeat=settings.heartbeat_timeout,
        continue_after=settings.continue_after,
    )
    recall = RecallActivities(services.recall, services.tenant_key)
    evaluation = EvaluationActivities(runner)
    ingest = IngestActivities(
        client=client,
        task_queue=settings.task_queue,
        tenant_key=services.tenant_key,
        journal=services.journal,
        leases=services.leases,
        writer=services.writer,
    )
    forgetting = ForgettingActivities(
        forgetter=services.forgetter, due=services.due, deletions=services.deletions, tenant_key=services.tenant_key
    )
    return [
        tasks.prepare_task,
        *steps.activities(),
        RecallStepActivities(runner, services.recall).recall_step,
        recall.recall_memory,
        evaluation.evaluate_task,
        ingest.remember,
        ingest.submit,
        ingest.wait,
        ingest.plan,
        ingest.apply,
        ingest.confirm,
        forgetting.tenant_of,
        forgetting.due_tenants,
        forgetting.select,
        forgetting.tombstone,
        forgetting.purge,
        forgetting.finish,
        forgetting.find_undo,
        forgetting.restore,
    ]
