"""A query can have a worker run ahead of the recorded history: what is recorded afterwards must replay."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode
from temporalio.workflow import NondeterminismError

from perdure import Event, Progress
from perdure.agent.steps.calls import Ended, Result, Value
from perdure.values.tasks import StepStatus
from tests.conftest import Servers
from tests.support.processes import processes
from tests.support.waiting import progress_of, until, until_true

LINGERING = """
steps:
  - {{id: one, tool: echo, args: {{value: 1}}}}
  - {{id: two, tool: linger, args: {{ledger: "{ledger}"}}}}
  - {{id: three, tool: linger, args: {{ledger: "{ledger}"}}}}
"""

STICKY = 0.8
"""Seconds into the second that a query waits for a dead worker's own queue: then the step ends behind its back.

Nothing shows from outside that Temporal holds a query back, so this one moment is hit by the clock.
"""


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


BESIDE = """
steps:
  - parallel:
    - {{id: one, tool: linger, args: {{ledger: "{ledger}"}}}}
    - {{id: paid, wait: {{event: paid}}}}
  - {{id: two, tool: echo, args: {{value: 2}}}}
"""


async def test_a_query_that_runs_ahead_takes_no_event_out_of_its_order(servers: Servers, tmp_path: Path) -> None:
    assert await replays(servers, tmp_path, never_evicting=False)


@pytest.mark.slow
async def test_without_evicting_it_would(servers: Servers, tmp_path: Path) -> None:
    # On a busy machine the question may be answered before the step ends.
    for _ in range(5):
        if not await replays(servers, tmp_path, never_evicting=True):
            return
    pytest.fail("each of five histories replayed")


async def replays(servers: Servers, tmp_path: Path, *, never_evicting: bool) -> bool:
    """Have a query run ahead of a history, and return whether what came of it replays."""
    async with processes(servers, tmp_path) as (workers, bench):
        ledger = bench.ledger()
        first = await workers.start()
        handle = await bench.start(bench.task(bench.skill(BESIDE.format(ledger=ledger)), memory="off"))
        await until_true(ledger.exists)
        await progress_of(handle, lambda one: bool(one.waits))
        before = await scheduled(handle)
        await workers.start(never_evicting=never_evicting)
        first.kill()
        await first.wait()
        query = asyncio.create_task(answered(handle))
        await asyncio.sleep(STICKY)
        outcome = Ended(result=Result(status=StepStatus.DONE, parts={"output": Value(inline="x")}))
        activity = bench.client.get_async_activity_handle(
            workflow_id=handle.id, run_id=handle.first_execution_run_id, activity_id=before[-1]
        )
        await activity.complete(outcome)
        await query
        try:
            async with asyncio.timeout(30):
                await handle.execute_update("deliver", Event(name="paid", value=7))
                await handle.result()
            await bench.replay(handle)
        except (TimeoutError, NondeterminismError):
            # A worker that cannot replay it goes on trying.
            return False
        return True
