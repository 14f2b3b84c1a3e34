"""A task that is cancelled in the moment in which an effect of its ends: the effect is known, and undone."""

from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError
from temporalio.worker import Worker

from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.tools import lines_in
from tests.support.waiting import until, until_true
from worker.plugin import WORKFLOWS, WorkerPlugin
from worker.process import make_worker
from worker.wiring.activities import activities


def part(agents: Bench, *, of_workflows: bool) -> Worker:
    """Make a worker that serves workflows alone, or activities alone."""
    assert agents.deployed is not None
    services, settings = agents.deployed.services, agents.settings
    offered = [] if of_workflows else activities(services, agents.client, settings)
    return make_worker(agents.client, services, settings, WorkerPlugin(offered, WORKFLOWS if of_workflows else []))


@pytest.mark.slow
async def test_what_ends_together_with_the_task_is_undone(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path, serving=False) as agents:
        ledger, begun, go = agents.ledger(), tmp_path / "begun", tmp_path / "go"
        skill = agents.skill(f"""
steps:
  - id: book
    tool: wait_in_a_thread
    args: {{word: room, begun: "{begun}", go: "{go}"}}
    compensate: {{tool: append, args: {{ledger: "{ledger}", line: given back}}}}
""")
        async with part(agents, of_workflows=False):
            async with part(agents, of_workflows=True):
                handle = await agents.start(agents.task(skill))
                await until_true(begun.exists)
            # While nobody runs the workflow, the two come together.
            await handle.cancel()
            go.touch()

            async def ended() -> int:
                events = [event.event_type async for event in handle.fetch_history_events()]
                return events.count(EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)

            await until(ended, (3).__le__)
            async with part(agents, of_workflows=True):
                with pytest.raises(WorkflowFailureError):
                    await handle.result()
                result = TaskResult.model_validate(await handle.query("result"))
                await agents.replay(handle)
    assert lines_in(str(ledger)) == ["given back"]
    assert (result.compensated, result.unknown) == (("book",), ())
