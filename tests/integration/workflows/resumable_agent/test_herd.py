"""A worker that starts where many tasks are in the middle of long histories takes them all up, one by one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle

from perdure import Answer, TaskResult
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import question_of
from workflows.history import ACTIVITY, EVENTS

TASKS = 40
STEPS = EVENTS // ACTIVITY - 10
"""So many that a history is nearly as long as one gets."""

SKILL = """
inputs: {numbers: list}
steps:
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - {id: write, tool: echo, args: {value: "${number}"}}
  - id: which
    tool: look
    args: {name: x, known: false}
    expect: "${output.licence != null}"
    ask: Which?
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_worker_that_starts_takes_up_many_long_tasks(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as here:
        skill, queue = here.skill(SKILL), here.queue
        inputs = {"numbers": [str(number) for number in range(STEPS)]}
        handles = await asyncio.gather(
            *(here.start(here.task(skill, memory="off", inputs=inputs)) for _ in range(TASKS))
        )
        async with asyncio.timeout(400):
            await asyncio.gather(*(asked(handle) for handle in handles))
    async with bench(servers, tmp_path, queue=queue) as here:
        again = [here.client.get_workflow_handle(handle.id, result_type=TaskResult) for handle in handles]
        async with asyncio.timeout(120):
            results = await asyncio.gather(*(answered(handle) for handle in again))
    assert {result.status for result in results} == {"completed"}
    assert [await timeouts(handle) for handle in again] == [0] * TASKS


async def asked(handle: WorkflowHandle[Any, TaskResult]) -> None:
    while True:
        try:
            await question_of(handle)
        except TimeoutError:
            continue
        return


async def answered(handle: WorkflowHandle[Any, TaskResult]) -> TaskResult:
    await handle.execute_update("answer", Answer(question_id="which", value="MIT"))
    return await handle.result()


async def timeouts(handle: WorkflowHandle[Any, Any]) -> int:
    """Return how many workflow tasks of a task timed out, or failed."""
    ended = {EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED}
    return sum(event.event_type in ended for event in (await handle.fetch_history()).events)
