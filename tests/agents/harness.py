"""A worker on the real servers, in this process, with the tools and skills of the tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.converter import DATA_CONVERTER
from activities.evaluation import EvaluationActivities
from activities.failures import FailureInterceptor
from activities.ingest import IngestActivities
from activities.notes import StepNotes
from activities.recalling import RecallStepActivities
from activities.steps import StepActivities
from activities.tasks import TaskActivities
from perdure import AgentTask, TaskResult
from perdure.changes import Door
from perdure.coordination.claims import Claims
from perdure.coordination.deletions import Deletions
from perdure.coordination.due import DueIndex
from perdure.coordination.leases import Leases
from perdure.coordination.outputs import Outputs
from perdure.embedding import CachedEmbedder, MiniLMEmbedder
from perdure.episodes import Episodes, connect
from perdure.longterm import Embedding, LongTerm
from perdure.mirror import Mirror
from perdure.procedures.running import StepRunner
from perdure.procedures.values import Values
from perdure.recall import Recall
from perdure.retention import RetentionRules
from perdure.skills import SkillLibrary
from perdure.tenants import TenantKey
from perdure.tools import Toolbox
from perdure.writing import Writer
from perdure.writing.planning import WritePolicy
from tests.conftest import Servers
from workflows.ingest_memory import IngestMemory
from workflows.resumable_agent import ResumableAgent

TTL = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a test of a task needs."""

    client: Client
    queue: str
    folder: Path

    def skill(self, text: str) -> str:
        """Write a skill, and give its name."""
        name = f"s{uuid4().hex[:10]}"
        (self.folder / "skills").mkdir(exist_ok=True)
        (self.folder / "skills" / f"{name}.yaml").write_text(f"name: {name}\n{text}", encoding="utf-8")
        return name

    def task(self, skill: str, **more: Any) -> AgentTask:
        """Make a task that runs a skill."""
        task_id = more.pop("task_id", f"t{uuid4().hex[:10]}")
        return AgentTask(task_id=task_id, user_id=f"user {uuid4().hex}", skill=skill, **more)

    async def start(self, task: AgentTask) -> WorkflowHandle[Any, TaskResult]:
        """Start a task."""
        return await self.client.start_workflow(
            "ResumableAgent",
            task,
            id=task.workflow_id,
            task_queue=self.queue,
            result_type=TaskResult,
            task_timeout=timedelta(seconds=3),
        )

    async def run(self, text: str, **more: Any) -> TaskResult:
        """Run a skill to its end."""
        handle = await self.start(self.task(self.skill(text), **more))
        return await handle.result()

    def ledger(self) -> Path:
        """Give a fresh ledger file."""
        return self.folder / f"ledger-{uuid4().hex[:8]}"


@asynccontextmanager
async def bench(
    servers: Servers,
    folder: Path,
    *,
    queue: str = "",
    continue_after: int = 0,
    redis_url: str = "",
    more_workflows: tuple[type, ...] = (),
    more_activities: tuple[Any, ...] = (),
    **worker: Any,
) -> AsyncGenerator[Bench]:
    """Run a worker for as long as the block lasts."""
    queue = queue or f"q-{uuid4().hex[:12]}"
    client = await Client.connect(servers.temporal, data_converter=DATA_CONVERTER)
    redis = connect(redis_url or servers.redis_url)
    embedder = CachedEmbedder(MiniLMEmbedder(), 1000)
    longterm = LongTerm(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=Embedding(name=embedder.name, dimension=embedder.dimension),
    )
    mirror, episodes, deletions = Mirror(folder / "mirror"), Episodes(redis), Deletions(redis)
    door = Door(longterm=longterm, leases=Leases(redis), due=DueIndex(redis), rules=RetentionRules(), client_timeout=10)
    writer = Writer(longterm=longterm, embedder=embedder, door=door, deletions=deletions, policy=WritePolicy())
    key = TenantKey.load_or_create(folder / "tenant.key")
    toolbox = Toolbox.load(["tests.agents.tools"])
    values = Values(Outputs(redis, TTL))
    runner = StepRunner(toolbox, Claims(redis, TTL), values)
    skills = SkillLibrary((folder / "skills", Path(__file__).parent / "skills"))
    ingest = IngestActivities(client=client, task_queue=queue, tenant_key=key, mirror=mirror, writer=writer)
    recall = Recall(longterm=longterm, episodes=episodes, mirror=mirror, embedder=embedder)
    options: dict[str, Any] = {
        "sticky_queue_schedule_to_start_timeout": timedelta(seconds=1),
        "max_heartbeat_throttle_interval": timedelta(seconds=0.5),
        **worker,
    }
    async with Worker(
        client,
        task_queue=queue,
        workflows=[ResumableAgent, IngestMemory, *more_workflows],
        activities=[
            TaskActivities(skills, toolbox, key, values, heartbeat=2.0, continue_after=continue_after).prepare_task,
            *StepActivities(toolbox, runner, StepNotes(episodes, mirror), attempts=3).activities(),
            RecallStepActivities(runner, recall).recall_step,
            EvaluationActivities(runner).evaluate_task,
            ingest.submit,
            ingest.wait,
            ingest.plan,
            ingest.apply,
            ingest.confirm,
            *more_activities,
        ],
        interceptors=[FailureInterceptor()],
        **options,
    ):
        yield Bench(client=client, queue=queue, folder=folder)
    await longterm.close()
    await redis.aclose()
