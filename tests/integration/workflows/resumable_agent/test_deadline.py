"""The deadline of a whole task: it fails in good order, whatever it waits for and however often it was rolled over."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from perdure import TaskResult
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.tools import lines_in
from tests.support.waiting import progress_of, until

LIMITS = {"hours": 4 / 3_600}
TOLD = "the task did not end within 0.00111111 h (limits.hours)"
LONGER = 12
"""Seconds in which a task with several rollovers, and without a cache, comes to its last step on a busy machine."""

WAITS = """
inputs: {ledger: string}
steps:
  - id: write
    tool: append
    args: {ledger: "${inputs.ledger}", line: done}
    compensate: {tool: append, args: {ledger: "${inputs.ledger}", line: undone}}
  - for_each: "${[1, 2, 3, 4, 5, 6, 7, 8]}"
    as: n
    steps: [{id: say, tool: echo, args: {value: "${n}"}}]
"""


async def failed(handle: WorkflowHandle[Any, Any]) -> TaskResult:
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, ApplicationError)
    return TaskResult.model_validate(caught.value.cause.details[0])


@pytest.mark.slow
@pytest.mark.parametrize("last", ["{id: rest, wait: 1h}", '{id: ask, tool: echo, args: {value: 1}, approve: "Go on?"}'])
async def test_a_task_whose_time_is_over_fails_and_undoes_what_it_did(
    servers: Servers, tmp_path: Path, last: str
) -> None:
    async with bench(servers, tmp_path, continue_after=20, max_cached_workflows=0) as agents:
        ledger = agents.ledger()
        skill = agents.skill(f"{WAITS}  - {last}\n")
        handle = await agents.start(
            agents.task(skill, inputs={"ledger": str(ledger)}, limits={"hours": LONGER / 3_600})
        )
        latest = agents.client.get_workflow_handle(handle.id)
        waiting = await progress_of(latest, lambda one: one.phase in {Phase.PAUSED, Phase.WAITING})
        began = (await handle.describe()).start_time
        assert waiting.until is not None
        assert timedelta() < waiting.until - began < timedelta(seconds=LONGER + 3)
        result = await failed(handle)
        described = await latest.describe()
        assert described.run_id != handle.first_execution_run_id, "its history was rolled over"
        await agents.replay(agents.client.get_workflow_handle(handle.id, run_id=described.run_id))
    told = "the task did not end within 0.00333333 h (limits.hours)"
    assert (result.status, result.problem, result.compensated) == (Phase.FAILED, told, ("write",))
    assert lines_in(str(ledger)) == ["done", "undone"]


@pytest.mark.slow
async def test_an_effect_that_has_begun_is_not_cut_off_by_the_task_s_deadline(agents: Bench) -> None:
    begun, go = agents.ledger(), agents.ledger()
    args = f'{{word: x, begun: "{begun}", go: "{go}"}}'
    skill = agents.skill(f"steps: [{{id: waits, tool: wait_in_a_thread, args: {args}}}]")
    handle = await agents.start(agents.task(skill, limits=LIMITS))

    async def fired() -> bool:
        history = await handle.fetch_history()
        return any(event.HasField("timer_fired_event_attributes") for event in history.events)

    await until(fired, bool)
    assert begun.exists()
    assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
    go.touch()
    result = await failed(handle)
    await agents.replay(handle)
    assert (result.status, result.problem, result.unknown) == (Phase.FAILED, TOLD, ())


async def test_a_task_that_ends_in_time_is_as_one_without_a_deadline(agents: Bench) -> None:
    handle = await agents.start(
        agents.task(agents.skill("steps: [{id: say, tool: echo, args: {value: 1}}]"), limits={"hours": 1})
    )
    assert (await handle.result()).done == 1
    await agents.replay(handle)
    assert (await progress_of(handle, lambda one: True)).until is None
