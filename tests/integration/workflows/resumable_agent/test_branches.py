"""A plan with several branches: their actions are on their way at once, and a question of one holds up no other."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle

from perdure import Answer
from perdure.values.tasks import Phase, TaskResult
from tests.conftest import Servers
from tests.support.fan import ACTING, ROUNDS, Fan
from tests.support.harness import Bench, bench
from tests.support.waiting import progress_of, question_of

SKILL = "inputs: {ledger: string}\nsteps: [{id: unused, tool: who}]"


@pytest.fixture(
    params=[
        (1000, 0),
        pytest.param((0, 0), marks=pytest.mark.slow),
        pytest.param((1000, 30), marks=pytest.mark.slow),
        (0, 30),
    ],
    ids=["cached", "replayed", "rolled", "both"],
)
async def agents(servers: Servers, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Bench]:
    cached, continue_after = request.param
    more: dict[str, Any] = {"max_cached_workflows": cached, "more_workflows": (Fan,)}
    async with bench(servers, tmp_path, continue_after=continue_after, **more) as one:
        yield one


async def histories(agents: Bench, handle: WorkflowHandle[Any, Any]) -> list[Sequence[HistoryEvent]]:
    """Return the events of each run, and replay each."""
    found: list[Sequence[HistoryEvent]] = []
    run = handle.first_execution_run_id
    while run:
        one = agents.client.get_workflow_handle(handle.id, run_id=run)
        await agents.replay(one, Fan)
        found.append((await one.fetch_history()).events)
        run = found[-1][-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return found


def most_at_once(events: Sequence[HistoryEvent]) -> int:
    """Return how many actions were on their way at the same time, at most."""
    open_, most = set[int](), 0
    for event in events:
        if event.activity_task_scheduled_event_attributes.activity_type.name == "dwell":
            open_.add(event.event_id)
            most = max(most, len(open_))
        open_.discard(event.activity_task_completed_event_attributes.scheduled_event_id)
    return most


@pytest.mark.slow
async def test_branches_act_at_once_while_a_person_is_asked(agents: Bench) -> None:
    ledger = agents.ledger()
    task = agents.task(agents.skill(SKILL), inputs={"ledger": str(ledger)})
    handle = await agents.start(task, "Fan")
    latest = agents.client.get_workflow_handle(handle.id, result_type=TaskResult)
    question = await question_of(latest)
    progress = await progress_of(latest, lambda one: one.done >= 2)
    assert "asking" in progress.step, "the question waits while the others go on"
    await latest.execute_update("answer", Answer(question_id=question.id, value="7", by="anna"))
    result = await latest.result()
    assert result.output == {
        **{name: [f"{name}[{number}] ${{literal}}" for number in range(ROUNDS)] for name in ACTING},
        "asking": [[7, "anna"], "asking[1] ${literal}"],
    }
    assert result.done == len(ACTING) * ROUNDS + 1
    assert sorted(ledger.read_text().splitlines()) == sorted(
        line for lines in result.output.values() for line in lines if isinstance(line, str)
    ), "each action once"
    runs = await histories(agents, handle)
    assert max(map(most_at_once, runs)) >= len(ACTING)


@pytest.mark.slow
async def test_a_question_travels_when_the_history_is_rolled_over(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path, continue_after=20, more_workflows=(Fan,)) as agents:
        task = agents.task(agents.skill(SKILL), inputs={"ledger": str(agents.ledger())})
        handle = await agents.start(task, "Fan")
        latest = agents.client.get_workflow_handle(handle.id, result_type=TaskResult)
        waiting = await progress_of(latest, lambda one: one.done == len(ACTING) * ROUNDS and one.phase is Phase.WAITING)
        assert [one.id for one in waiting.questions] == ["asking"]
        assert (await latest.describe()).run_id != handle.first_execution_run_id
        await latest.execute_update("answer", Answer(question_id="asking", value=3))
        assert (await latest.result()).done == len(ACTING) * ROUNDS + 1
        runs = await histories(agents, handle)
        announced = [
            event
            for events in runs
            for event in events
            if event.activity_task_scheduled_event_attributes.activity_type.name == "announce"
        ]
        assert len(announced) == 2, "the question once and the answer once"


@pytest.mark.slow
async def test_what_is_on_its_way_is_cancelled_with_its_task(agents: Bench) -> None:
    task = agents.task(agents.skill(SKILL), inputs={"ledger": str(agents.ledger())})
    handle = await agents.start(task, "Fan")
    latest = agents.client.get_workflow_handle(handle.id)
    await question_of(latest)
    await latest.cancel()
    with pytest.raises(WorkflowFailureError):
        await latest.result()
    assert (await latest.describe()).status is WorkflowExecutionStatus.CANCELED
    await histories(agents, handle)


async def test_limits_count_what_is_on_its_way(agents: Bench) -> None:
    ledger = agents.ledger()
    inputs = {"ledger": str(ledger)}
    task = agents.task(agents.skill(SKILL), inputs=inputs, limits={"steps": 3})
    handle = await agents.start(task, "Fan")
    with pytest.raises(WorkflowFailureError, match="failed") as caught:
        await handle.result()
    assert "the task may run 3 steps (limits.steps)" in str(caught.value.cause)
    assert len(ledger.read_text().splitlines()) <= 3
