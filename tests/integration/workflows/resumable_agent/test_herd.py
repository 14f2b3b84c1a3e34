"""A worker that starts where many tasks are in the middle of long histories takes them all up."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import TimeoutType
from temporalio.client import WorkflowHandle

from perdure import Answer, TaskResult
from perdure.history import ACTIVITY, EVENTS
from perdure.names import ANSWER
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import question_of, until
from worker.gateway.updates import sent_update
from worker.slots import tuner

pytestmark = pytest.mark.slow

TASKS = 25
STEPS = EVENTS // ACTIVITY - 10
"""So many that a history is nearly as long as one gets."""

SKILL = """
inputs: {numbers: list}
steps:
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - {id: write, tool: echo, args: {value: "${number}"}}
  - {id: first, tool: echo, args: {value: 1}, approve: "Go on?"}
  - {id: second, tool: echo, args: {value: 1}, approve: "Go on?"}
"""

Handle = WorkflowHandle[Any, TaskResult]


@pytest.mark.timeout(600)
async def test_a_worker_that_starts_takes_up_many_long_tasks(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as here:
        skill, queue = here.skill(SKILL), here.queue
        inputs = {"numbers": [str(number) for number in range(STEPS)]}
        tasks = (here.start(here.task(skill, memory="off", inputs=inputs)) for _ in range(TASKS))
        handles = [
            here.client.get_workflow_handle(handle.id, result_type=TaskResult)
            for handle in await asyncio.gather(*tasks)
        ]
        await asyncio.gather(*(question_of(handle, "first", 400) for handle in handles))
    before = await timeouts(handles)
    # How long a person waits for that is a matter of the machine; what is not is that none has to be taken up twice.
    async with bench(servers, tmp_path, queue=queue), asyncio.timeout(300):
        answer = Answer(question_id="first", value="yes")
        await asyncio.gather(*(give(handle, answer) for handle in handles))
        ours = await timeouts(handles)
    # The control: a worker that takes up all of them at once is not done with any within the time of a workflow task.
    async with bench(servers, tmp_path, queue=queue, tuner=tuner(replays=100)):
        answer = Answer(question_id="second", value="yes")
        answers = [asyncio.create_task(give(handle, answer)) for handle in handles]
        await until(lambda: timeouts(handles), lambda found: found >= ours + TASKS / 2, seconds=120)
    # Those that it takes up first, while it is still loading, may not be done in time.
    assert ours - before < TASKS / 2
    for one in answers:
        one.cancel()
    await asyncio.gather(*answers, return_exceptions=True)


async def give(handle: Handle, answer: Answer) -> None:
    """Answer as the gateway does."""
    await sent_update(handle, ANSWER, answer)


async def timeouts(handles: list[Handle]) -> int:
    """Return how many workflow tasks a worker took up and did not end in time."""
    histories = await asyncio.gather(*(handle.fetch_history() for handle in handles))
    return sum(
        event.workflow_task_timed_out_event_attributes.timeout_type == TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
        for history in histories
        for event in history.events
    )
