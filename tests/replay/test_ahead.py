"""A worker that answers a query can be ahead of the recorded history; what it decides then must replay."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from perdure import Progress
from perdure.agent.steps.calls import Ended, Result, Value
from perdure.tasks import StepStatus
from tests.conftest import Servers
from tests.support.processes import processes
from tests.support.waiting import until, until_true

LINGERING = """
steps:
  - {{id: one, tool: echo, args: {{value: 1}}}}
  - {{id: two, tool: linger, args: {{ledger: "{ledger}"}}}}
  - {{id: three, tool: linger, args: {{ledger: "{ledger}"}}}}
"""

STICKY = 0.8
"""Seconds into the second that a query waits for a dead worker's own queue: then the step ends behind its back."""


async def scheduled(handle: WorkflowHandle[object, object]) -> list[str]:
    history = await handle.fetch_history()
    found = [event.activity_task_scheduled_event_attributes.activity_id for event in history.events]
    return [identifier for identifier in found if identifier]


async def answered(handle: WorkflowHandle[object, object]) -> Progress:
    """Ask for the progress; where the worker that was asked died meanwhile, the server may cancel the question."""
    while True:
        try:
            return await handle.query("progress", result_type=Progress)
        except RPCError as error:
            if error.status is not RPCStatusCode.CANCELLED:
                raise


@pytest.mark.slow
async def test_a_query_that_runs_ahead_changes_no_rollover(servers: Servers, tmp_path: Path) -> None:
    async with processes(servers, tmp_path, continue_after=24) as (workers, bench):
        ledger = bench.ledger()
        first = await workers.start()
        handle = await bench.start(bench.task(bench.skill(LINGERING.format(ledger=ledger)), memory="off"))
        await until_true(ledger.exists)
        before = await scheduled(handle)
        await workers.start()
        first.kill()
        await first.wait()
        query = asyncio.create_task(answered(handle))
        await asyncio.sleep(STICKY)
        outcome = Ended(result=Result(status=StepStatus.DONE, parts={"output": Value(inline="x")}))
        run = bench.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
        activity = bench.client.get_async_activity_handle(
            workflow_id=handle.id, run_id=handle.first_execution_run_id, activity_id=before[-1]
        )
        await activity.complete(outcome)
        await query
        await until(lambda: scheduled(run), lambda now: len(now) > len(before))
        await bench.replay(run)
        await handle.terminate()
