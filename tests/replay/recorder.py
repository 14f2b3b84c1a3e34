"""A worker wired as the product wires it, whose workflows' histories are kept. Decides not what is run on it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import SecretStr
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowHistory

from activities.jobs import ApplyCall, IngestActivities
from activities.tasks import TaskActivities
from perdure.settings import Addresses, Settings
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.temporal.plugin import Plugin
from perdure.values.jobs import Applied
from tests.replay import histories
from worker.plugin import WorkerPlugin
from worker.process import make_worker
from worker.telemetry import Telemetry
from worker.wiring.activities import activities
from worker.wiring.services import Services, open_services

POLICIES = "policies"
"""The folder of policies in the data folder."""

ROLLED_AFTER = 40
"""Events after which the tasks on the rolling queue continue as new: some steps to each run."""


class Gate:
    """Holds up the writing of one job, so that another one can come between."""

    def __init__(self) -> None:
        self.job = ""
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    def before(self, ingest: IngestActivities) -> Callable[[ApplyCall], Any]:
        """Return the activity with the gate in front of it."""

        @activity.defn(name="apply_ingest")
        async def apply(request: ApplyCall) -> Applied:
            if request.operation == self.job:
                self.reached.set()
                await self.opened.wait()
            return await ingest.apply(request)

        return apply


class Recorder:
    """Starts workflows on real servers, and writes down what they did.

    Args:
        client: A client as the product makes it.
        addresses: Where the servers are.
        services: The stores.
        settings: Of the workers.
        gate: In front of the writing of jobs.
        folder: Where the histories go.
    """

    def __init__(
        self, client: Client, addresses: Addresses, services: Services, settings: Settings, gate: Gate, folder: Path
    ) -> None:
        self.client = client
        self.addresses = addresses
        self.services = services
        self.gate = gate
        self._settings = settings
        self._folder = folder

    @property
    def queue(self) -> str:
        """The queue that tasks are usually started on."""
        return self._settings.task_queue

    @property
    def rolling(self) -> str:
        """The queue whose tasks continue as new often."""
        return rolling(self._settings)

    def skill(self, name: str, text: str) -> str:
        """Write a skill, and give its name."""
        (self._settings.skills[0] / f"{name}.yaml").write_text(f"name: {name}\n{text}", encoding="utf-8")
        return name

    def agent(self, name: str, text: str) -> str:
        """Write an agent, and give its name."""
        (self._settings.agents[0] / f"{name}.yaml").write_text(f"name: {name}\n{text}", encoding="utf-8")
        return name

    async def start(
        self, workflow: str, argument: object | None = None, *, id_: str = "", queue: str = ""
    ) -> WorkflowHandle[Any, Any]:
        """Start a workflow."""
        return await self.client.start_workflow(
            workflow,
            args=[] if argument is None else [argument],
            id=id_ or f"{workflow}-{uuid4().hex[:12]}",
            task_queue=queue or self._settings.task_queue,
            task_timeout=TASK_TIMEOUT,
        )

    async def keep(self, name: str, handle: WorkflowHandle[Any, Any]) -> None:
        """Write down what a closed workflow did: each of its runs, if it continued as new."""
        runs = [run async for run in self._runs(handle)]
        for number, history in enumerate(runs, 1):
            suffix = f"_{number}" if len(runs) > 1 else ""
            histories.write(self._folder / f"{name}{suffix}.json", history)

    async def keep_failed(self, name: str, handle: WorkflowHandle[Any, Any]) -> None:
        """Write down what a workflow did that is expected to fail, or to be cancelled."""
        try:
            await handle.result()
        except WorkflowFailureError:
            await self.keep(name, handle)
        else:
            raise AssertionError(f"{name} ended well")

    async def _runs(self, handle: WorkflowHandle[Any, Any]) -> AsyncGenerator[WorkflowHistory]:
        run = handle.first_execution_run_id
        while run:
            history = await self.client.get_workflow_handle(handle.id, run_id=run).fetch_history()
            yield history
            run = history.events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id


def rolling(settings: Settings) -> str:
    """Return the name of the rolling queue."""
    return f"{settings.task_queue}-rolling"


@asynccontextmanager
async def recorder(
    addresses: Addresses, home: Path, folder: Path, *, model: str, **worker: Any
) -> AsyncGenerator[Recorder]:
    """Yield a recorder with two workers: one as it is, and one whose tasks continue as new often.

    Args:
        addresses: The real servers.
        home: The data folder, with nothing in it yet but policies.
        folder: Where the histories go.
        model: The address of the server of language models.
        **worker: Options of both workers.
    """
    skills, agents = home / "skills", home / "agents"
    skills.mkdir()
    agents.mkdir()
    settings = Settings(
        home=home,
        task_queue=f"q-{uuid4().hex[:12]}",
        tools=("tests.support.tools", "tests.support.quick_tools"),
        skills=(skills,),
        agents=(agents,),
        policies=(home / POLICIES,),
        openai_base_url=model,
        openai_api_key=SecretStr("none"),
        forgetting_cron="off",
    )
    telemetry, gate = Telemetry.start(settings), Gate()
    client = await Client.connect(addresses.temporal, plugins=[Plugin(), telemetry.plugin])
    async with open_services(settings, addresses) as services:
        await services.belongs()
        await services.prepare()
        ours = activities(services, client, settings)
        [own] = {id(one): one for one in map(_owner, ours) if isinstance(one, TaskActivities)}.values()
        tasks = replace(own, continue_after=ROLLED_AFTER)
        [ingest] = {id(one): one for one in map(_owner, ours) if isinstance(one, IngestActivities)}.values()
        gated = [gate.before(ingest), *(one for one in ours if one != ingest.apply)]
        rolled = [
            tasks.prepare_task,
            tasks.keep_claims,
            *(one for one in ours if not isinstance(_owner(one), TaskActivities)),
        ]
        async with (
            make_worker(client, services, settings, WorkerPlugin(gated), **worker),
            make_worker(client, services, settings, WorkerPlugin(rolled), task_queue=rolling(settings), **worker),
        ):
            with telemetry.root("record"):
                yield Recorder(client, addresses, services, settings, gate, folder)
    telemetry.stop()


def _owner(method: Callable[..., Any]) -> object:
    return getattr(method, "__self__", None)
