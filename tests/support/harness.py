"""A worker on the real servers, in this process, with the tools and skills of the tests."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Replayer

from perdure import AgentTask, TaskResult
from perdure.settings import Addresses, Settings
from perdure.temporal.plugin import Plugin
from tests.deployment import Deployment, deployment
from worker.wiring.services import Services
from workflows.resumable_agent import ResumableAgent


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a test of a task needs."""

    client: Client
    queue: str
    folder: Path
    deployed: Deployment | None = None

    @property
    def services(self) -> Services:
        """The stores of the worker in this process."""
        assert self.deployed is not None
        return self.deployed.services

    def skill(self, text: str) -> str:
        """Write a skill, and give its name."""
        name = f"s{uuid4().hex[:10]}"
        skills = self.folder / "skills"
        skills.mkdir(parents=True, exist_ok=True)
        (skills / f"{name}.yaml").write_text(f"name: {name}\n{text}", encoding="utf-8")
        return name

    def task(self, skill: str, **more: Any) -> AgentTask:
        """Make a task that runs a skill."""
        task_id = more.pop("task_id", f"t{uuid4().hex[:10]}")
        return AgentTask(task_id=task_id, user_id=f"user {uuid4().hex}", skill=skill, **more)

    async def start(
        self, task: AgentTask, workflow: str = "ResumableAgent", *, id_: str = ""
    ) -> WorkflowHandle[Any, TaskResult]:
        """Start a task."""
        return await self.client.start_workflow(
            workflow,
            task,
            id=id_ or task.workflow_id,
            task_queue=self.queue,
            result_type=TaskResult,
            task_timeout=timedelta(seconds=3),
        )

    @property
    def settings(self) -> Settings:
        """The settings of the worker in this process."""
        assert self.deployed is not None
        return self.deployed.settings

    async def execute(self, workflow: str, argument: object) -> Any:
        """Run a workflow to its end."""
        return await self.client.execute_workflow(
            workflow, argument, id=f"w-{uuid4().hex}", task_queue=self.queue, task_timeout=timedelta(seconds=3)
        )

    async def run(self, text: str, **more: Any) -> TaskResult:
        """Run a skill to its end."""
        handle = await self.start(self.task(self.skill(text), **more))
        return await handle.result()

    async def replay(self, handle: WorkflowHandle[Any, Any], workflow: type = ResumableAgent) -> None:
        """Replay a task's history from its beginning; raises where it would go another way."""
        replayer = Replayer(workflows=[workflow], plugins=[Plugin()])
        await replayer.replay_workflow(await handle.fetch_history())

    def ledger(self) -> Path:
        """Return a fresh ledger file."""
        return self.folder / f"ledger-{uuid4().hex[:8]}"


@asynccontextmanager
async def bench(
    servers: Addresses,
    folder: Path,
    *,
    queue: str = "",
    continue_after: int = 0,
    claim_ttl_days: float = 90,
    more: Mapping[str, Any] | None = None,
    **worker: Any,
) -> AsyncGenerator[Bench]:
    """Run a worker with the tools and skills of the tests, and more settings, for as long as the block lasts."""
    (folder / "skills").mkdir(parents=True, exist_ok=True)
    settings = {
        "tools": ("tests.support.tools", "tests.support.quick_tools"),
        "skills": (folder / "skills",),
        "tool_attempts": 3,
        "continue_after": continue_after,
        "claim_ttl_days": claim_ttl_days,
        **(more or {}),
    }
    async with deployment(servers, folder, queue=queue, settings=settings, **worker) as deployed:
        yield Bench(client=deployed.client, queue=deployed.queue, folder=folder, deployed=deployed)
