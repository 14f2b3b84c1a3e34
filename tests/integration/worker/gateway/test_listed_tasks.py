"""Which tasks are listed as being in a phase: those that are in it, and of a task that was run again, its last run."""

from pathlib import Path
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from perdure import Actor, ActorKind
from perdure.names import Workflow
from perdure.temporal import namespace
from perdure.temporal.attributes import PHASE
from perdure.temporal.connection import connected
from perdure.values.tasks import Phase
from tests.conftest import Servers, clean_settings
from tests.support.waiting import until
from worker.gateway import Gateway
from worker.gateway.task_list import TaskFilter

TESTER = Actor(kind=ActorKind.PERSON, id="tester")


@workflow.defn(name=Workflow.RESUMABLE_AGENT, sandboxed=False)
class EndsAsAsked:
    """Stands in for a task: it fails, completes, or shows a phase and waits."""

    @workflow.run
    async def run(self, asked: str) -> None:
        if asked == "refused":
            # As one that is refused before it shows where it is.
            raise ApplicationError("no", non_retryable=True)
        workflow.upsert_search_attributes([PHASE.value_set(asked)])
        if asked == Phase.FAILED:
            raise ApplicationError("no", non_retryable=True)
        await workflow.wait_condition(lambda: asked == Phase.COMPLETED)


async def _begun(client: Client, queue: str, name: str, asked: str) -> None:
    handle = await client.start_workflow(EndsAsAsked.run, asked, id=f"{queue} {name}", task_queue=queue)
    if asked in {Phase.FAILED, "refused"}:
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    elif asked == Phase.COMPLETED:
        await handle.result()


async def test_a_phase_lists_the_tasks_that_are_in_it(servers: Servers, tmp_path: Path) -> None:
    queue = f"listed-{uuid4().hex[:8]}"
    settings = clean_settings(tmp_path, task_queue=queue)
    client = await connected(servers.temporal)
    await namespace.prepare(client)
    # With a quote: others start tasks under ids of their own.
    again = "today's"
    async with Gateway(settings, servers) as gateway:

        async def shown(phase: Phase | None = None) -> dict[str, str]:
            found = await gateway.tasks(TaskFilter(phase=phase), by=TESTER)
            return {one.workflow_id.removeprefix(f"{queue} "): one.phase for one in found}

        async with Worker(client, task_queue=queue, workflows=[EndsAsAsked]):
            await _begun(client, queue, again, Phase.FAILED)
            await _begun(client, queue, again, Phase.COMPLETED)
            await _begun(client, queue, "failed", Phase.FAILED)
            await _begun(client, queue, "refused", "refused")
            await _begun(client, queue, "waiting", Phase.WAITING)
            await _begun(client, queue, "terminated", Phase.WAITING)

            await until(shown, lambda found: found.get("waiting") == found.get("terminated") == Phase.WAITING)
            await client.get_workflow_handle(f"{queue} terminated").terminate()
        unserved = await client.start_workflow(Workflow.RESUMABLE_AGENT, id=f"{queue} unserved", task_queue=queue)
        expected = {
            again: "completed",
            "failed": "failed",
            "refused": "failed",
            "waiting": "waiting",
            "terminated": "terminated",
            "unserved": "preparing",
        }
        await until(shown, lambda found: found == expected)

        listed = {phase: await shown(phase) for phase in Phase}
        assert listed == {phase: {name: one for name, one in expected.items() if one == phase} for phase in Phase}
        await unserved.terminate()
        await client.get_workflow_handle(f"{queue} waiting").terminate()
