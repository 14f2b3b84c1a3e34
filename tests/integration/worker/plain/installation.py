"""An installation of its own, stores included, on a Temporal that nobody prepared for it."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from pytest_httpserver import HTTPServer
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecution
from werkzeug import Response

from localservers import Fleet, Server, find_all
from perdure.names import TASK_QUEUE
from perdure.settings import Settings
from perdure.temporal import Plugin
from perdure.temporal.namespace import missing
from perdure.values.tasks import Phase, Progress
from tests.conftest import Servers, clean_settings
from tests.integration.worker.cli.installation import Installation, Ran, installation
from tests.support.plain_temporal import plain_temporal
from tests.support.strangers import strangers
from tests.support.turn_server import Asked, Says, TurnServer
from tests.support.waiting import until

STRANGERS = "strangers"
"""The task queue of somebody else's worker."""

ROLLED_OVER_AFTER = 60
"""Events after which a task's history is rolled over: so few that a task of some steps is."""

CRONS = ("forgetting", "redating", "accesses", "promotion", "consolidation", "reconciling")

NEW_YEAR = "0 0 1 1 *"
"""When the worker's schedules start something by themselves: not while a test looks."""

SKILLS = {
    "inner": """
inputs: {ledger: string}
steps:
  - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: within}}
output: "${steps.write.output.line}"
""",
    "everything": f"""
inputs: {{ledger: string}}
steps:
  - {{id: moment, wait: 1s}}
  - {{id: learn, remember: [{{memory: "Rooms are blue."}}], critical: true}}
  - {{id: look, recall: {{text: "What is blue?", limit: 1, strategy: similarity}}}}
  - for_each: "${{[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}"
    as: number
    steps:
      - {{id: note, tool: append, args: {{ledger: "${{inputs.ledger}}", line: "n${{number}}"}}}}
  - parallel:
      - {{id: inner, skill: inner, inputs: {{ledger: "${{inputs.ledger}}"}}}}
      - {{id: charge, activity: Charge, queue: {STRANGERS}, args: ["${{inputs.ledger}}", {{cents: 7}}]}}
      - {{id: ship, workflow: Ship, queue: {STRANGERS}, args: ["${{inputs.ledger}}", books]}}
  - {{id: paid, wait: {{event: paid}}}}
  - {{id: book, tool: append, args: {{ledger: "${{inputs.ledger}}", line: room}}, approve: "Book the room?"}}
  - {{id: noted, tool: echo, args: {{value: "${{steps.inner.output}}"}}}}
output: "${{steps.inner.output}} ${{steps.ship.output.shipped}} ${{steps.look.items.size()}}"
""",
    "shipping": f"""
inputs: {{ledger: string}}
steps:
  - {{id: ship, workflow: Ship, queue: {STRANGERS}, args: ["${{inputs.ledger}}", books, true]}}
""",
    "asking": """
steps: [{id: a, tool: echo, args: {value: 1}, approve: "Go on?"}]
""",
    "nothing": """
steps: [{id: a, tool: echo, args: {value: 1}}]
""",
}

AGENT = "name: agent\nmodel: openai:test\ntools: [append]\napprove: [append]\n"

Script = Callable[[Asked], Says]


class Model:
    """The agent's model: what it says is up to each story."""

    def __init__(self) -> None:
        self.script: Script = lambda _: Says("Done")

    def __call__(self, asked: Asked) -> Says:
        return self.script(asked)


@dataclass(frozen=True, kw_only=True)
class Plain:
    """What a story is played with: the command, and Temporal's own client."""

    given: Installation
    client: Client
    fleet: Fleet
    settings: Settings
    addresses: Servers
    lacked: int
    """How many search attributes Temporal lacked before the worker started."""
    model: Model

    async def run(self, *arguments: str) -> Ran:
        """Run a command that has to succeed."""
        ran = await self.given.perdure(*arguments)
        assert ran.status == 0, ran.err
        return ran

    async def told(self, *arguments: str) -> Any:
        """Run a command that has to succeed, and return what it prints as JSON."""
        return json.loads((await self.run(*arguments, "--json")).out)

    def task(self, user: str, text: str) -> str:
        """Write a task, and return its file."""
        name = f"t{uuid4().hex[:10]}"
        return self.given.write(f"{name}.yaml", f"task_id: {name}\nuser_id: {user}\n{text}\n")

    def of_skill(self, user: str, skill: str, *, ledger: Path | None = None) -> str:
        """Write a task that runs a skill, and return its file."""
        return self.task(user, f"skill: {skill}" + (f"\ninputs: {{ledger: {ledger}}}" if ledger else ""))

    def ledger(self) -> Path:
        """Return a fresh ledger file."""
        return self.given.folder / f"ledger-{uuid4().hex[:8]}"

    async def begun(self, file: str) -> str:
        """Start a task, and return its workflow id."""
        return str((await self.told("run", file, "--detach"))["workflow_id"])

    async def progress(self, file: str, holds: Callable[[Progress], bool]) -> Progress:
        """Ask how far a task is until something holds of it."""

        async def ask() -> Progress:
            now = Progress.model_validate(await self.told("status", file))
            assert now.phase is not Phase.FAILED, now.problem
            return now

        return await until(ask, holds)

    async def asks(self, file: str) -> str:
        """Wait until a task asks a person; return the question's id."""
        return (await self.progress(file, lambda now: bool(now.questions))).questions[0].id

    async def listed(self, workflow_id: str, *options: str) -> None:
        """Wait until Temporal lists a task by its attributes."""

        async def found() -> bool:
            return workflow_id in [one["workflow_id"] for one in await self.told("tasks", "list", *options)]

        await until(found, bool)

    async def completed(self, since: datetime) -> list[WorkflowExecution]:
        """Return the runs that began since a moment and have completed, as Temporal lists them."""
        query = f"StartTime >= '{since.isoformat()}' AND ExecutionStatus = 'Completed'"
        return [run async for run in self.client.list_workflows(query)]

    async def accepted(self, since: datetime) -> set[str]:
        """Return the names of the updates that workflows have accepted that began since a moment."""
        names: set[str] = set()
        async for run in self.client.list_workflows(f"StartTime >= '{since.isoformat()}'"):
            handle = self.client.get_workflow_handle(run.id, run_id=run.run_id)
            async for event in handle.fetch_history_events():
                if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
                    asked = event.workflow_execution_update_accepted_event_attributes.accepted_request
                    names.add(asked.input.name)
        return names


@asynccontextmanager
async def plain_installation(servers: Servers, folder: Path) -> AsyncGenerator[Plain]:
    """Run one, with a worker, for as long as the block lasts.

    Its stores are its own, as sweeps and reconciliations go through everybody.
    """
    own = clean_settings(folder / "own")
    found = {server: path for server, path in find_all(own, print).items() if server is not Server.TEMPORAL}
    fleet = Fleet(own, found, print, others=servers)
    async with plain_temporal(folder) as temporal, strangers(temporal.address, STRANGERS):
        try:
            await fleet.start_all()
            addresses = Servers.model_validate(fleet.addresses.model_dump()).changed(temporal=temporal.address)
            with HTTPServer(host="127.0.0.1", threaded=True) as web:
                async with _worker_on(addresses, folder, fleet, web) as plain:
                    yield plain
        finally:
            await fleet.stop_all()


@asynccontextmanager
async def _worker_on(addresses: Servers, folder: Path, fleet: Fleet, web: HTTPServer) -> AsyncGenerator[Plain]:
    """Run a worker on these servers, whose model and webhook a web server is."""
    client = await Client.connect(addresses.temporal, plugins=[Plugin()])
    lacked = len(await missing(client))
    here = Model()
    settings = _written(folder) | {
        "task_queue": TASK_QUEUE,
        "continue_after": ROLLED_OVER_AFTER,
        "tools": ("tests.support.tools",),
        "openai_api_key": "k",
        "openai_base_url": TurnServer(web, here).url,
        "webhook_url": web.url_for("/hook"),
        "webhook_secret": "a secret of the tests",
        **{f"{name}_cron": NEW_YEAR for name in CRONS},
    }
    web.expect_request("/hook").respond_with_response(Response(status=204))
    async with installation(addresses, folder, **settings) as given:
        await given.ready_worker()
        chosen = clean_settings(folder / "home", **settings)
        yield Plain(
            given=given, client=client, fleet=fleet, settings=chosen, addresses=addresses, lacked=lacked, model=here
        )


def _written(folder: Path) -> dict[str, Any]:
    """Write skills, an agent and a write policy; return the settings that name them."""
    for name in ("skills", "agents"):
        (folder / name).mkdir()
    for name, text in SKILLS.items():
        (folder / "skills" / f"{name}.yaml").write_text(f"name: {name}\n{text}")
    (folder / "agents" / "agent.yaml").write_text(AGENT)
    policies = folder / "policies.yaml"
    policies.write_text("default: {hold: {rules: [{tags: [health]}]}}\n")
    return {"skills": (folder / "skills",), "agents": (folder / "agents",), "write_policies": policies}
