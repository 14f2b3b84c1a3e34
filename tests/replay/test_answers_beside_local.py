"""An answer and a question wait for a worker; while a quick step runs, an ordinary one ends: it must replay."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from perdure import Answer, Progress
from perdure.agent.steps.calls import Ended, Result, Value
from perdure.tasks import StepStatus
from tests.conftest import Servers
from tests.support.processes import processes
from tests.support.waiting import question_of, until, until_true, update_arrived

SKILL = """
steps:
  - parallel:
    - - {{id: one, tool: linger, args: {{ledger: "{ledger}"}}}}
      - {{id: beside, tool: echo, args: {{value: 2}}}}
    - - {{id: gate, tool: echo_late_quickly, args: {{value: 1, seconds: {seconds}}}, approve: "Go on?"}}
      - {{id: then, tool: echo_quickly, args: {{value: 3}}}}
      - {{id: last, tool: echo, args: {{value: 3}}}}
"""


@pytest.mark.parametrize(("queries", "seconds"), [(200, 0.0), (200, 0.005)])
async def test_it_replays(servers: Servers, tmp_path: Path, queries: int, seconds: float) -> None:
    async with processes(servers, tmp_path) as (workers, bench):
        ledger = bench.ledger()
        more = {"more": {"heartbeat_timeout": 60.0}}
        first = await workers.start(**more)
        handle = await bench.start(bench.task(bench.skill(SKILL.format(ledger=ledger, seconds=seconds)), memory="off"))
        await until_true(ledger.exists)
        await question_of(handle, "gate")
        history = await handle.fetch_history()
        ids = [
            e.activity_task_scheduled_event_attributes.activity_id
            for e in history.events
            if e.activity_task_scheduled_event_attributes.activity_type.name == "linger"
        ]
        first.kill()
        await first.wait()
        update = asyncio.create_task(handle.execute_update("answer", Answer(question_id="gate", value="yes"), id="u"))
        await update_arrived(bench.client, handle.id, "u")
        await asyncio.sleep(1.5)

        async def ask() -> None:
            with suppress(RPCError):
                await handle.query("progress", result_type=Progress)

        asking = [asyncio.create_task(ask()) for _ in range(queries)]

        async def started() -> int:
            h = await handle.fetch_history()
            return sum(e.event_type == 6 for e in h.events)

        before = await started()
        starting = asyncio.create_task(workers.start(**more))
        await until(started, lambda now: now > before, 30)
        await asyncio.sleep(0.0)
        outcome = Ended(result=Result(status=StepStatus.DONE, parts={"output": Value(inline="x")}))
        await bench.client.get_async_activity_handle(
            workflow_id=handle.id, run_id=handle.first_execution_run_id, activity_id=ids[-1]
        ).complete(outcome)
        await starting
        await asyncio.gather(*asking)
        with suppress(TimeoutError):
            async with asyncio.timeout(15):
                await update
                await handle.result()
        await bench.replay(handle)
        description = await handle.describe()
        assert description.status is WorkflowExecutionStatus.COMPLETED
