"""Quick steps run inside the worker, some at once; what goes wrong with one is done as with any other step."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure import Actor, ActorKind, Answer, Progress, TaskFeedback
from perdure.agent import quick_steps
from perdure.agent.steps.calls import QUICK_SECONDS
from perdure.history import ACTIVITY, EVENTS
from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.waiting import question_of, until_true, update_arrived
from worker.gateway.updates import sent_update

COUNT = 50


def many(ledger: Path, more: str = "", *, seconds: float | None = None) -> str:
    tool, late = ("append_quickly", "") if seconds is None else ("append_late_quickly", f", seconds: {seconds}")
    return f"""
inputs: {{numbers: list}}
steps:
  - for_each: "${{inputs.numbers}}"
    as: n
{more}
    steps:
      - {{id: write, tool: {tool}, args: {{ledger: "{ledger}", line: "${{n}}"{late}}}}}
output: "${{steps.n.done}}"
"""


def lines(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines() if ledger.exists() else []


def together(events: Sequence[HistoryEvent]) -> list[int]:
    """Return how many local activities each workflow task made."""
    found = [0]
    for event in events:
        if event.event_type == EventType.EVENT_TYPE_MARKER_RECORDED:
            found[-1] += 1
        elif event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
            found.append(0)
    return [number for number in found if number]


def numbers(count: int) -> list[JsonValue]:
    return [str(number) for number in range(count)]


def begun_again(request: pytest.FixtureRequest, more: int) -> int:
    """Return how many of the further calls are allowed.

    Without a cache, a worker may give up a local activity that it has begun, and begin it again as the same attempt.
    """
    return max(0, more) if request.node.callspec.params["agents"] == 0 else 0


async def run(agents: Bench, text: str, **inputs: JsonValue) -> tuple[TaskResult, list[HistoryEvent]]:
    handle = await agents.start(agents.task(agents.skill(text), inputs=inputs))
    result = await handle.result()
    await agents.replay(handle)
    return result, [event async for event in handle.fetch_history_events()]


@pytest.mark.slow
async def test_at_most_twenty_quick_steps_are_made_in_one_workflow_task(agents: Bench) -> None:
    result, events = await run(agents, many(ledger := agents.ledger()), numbers=numbers(COUNT))
    assert result.output == COUNT
    assert {*lines(ledger)} == {str(number) for number in range(COUNT)}
    assert max(together(events)) <= quick_steps.AT_MOST
    assert sum(together(events)) > COUNT / 2


@pytest.mark.parametrize(
    ("around", "inside"),
    [("", ""), ("    at_once: 7", ""), ("", ', when: "${true}"'), ("    at_once: 7", ', when: "${true}"')],
    ids=["one by one", "beside others", "decided one by one", "decided beside others"],
)
async def test_what_runs_beside_other_work_runs_nothing_inside_the_worker(
    agents: Bench, around: str, inside: str
) -> None:
    # Its result may be handed over in another workflow task than in a replay: others go on in another order then.
    skill = f"""
inputs: {{numbers: list}}
steps:
  - for_each: "${{inputs.numbers}}"
    as: n
{around}
    steps: [{{id: a, tool: {"echo" if inside else "echo_quickly"}, args: {{value: "${{n}}"}}{inside}}}]
output: "${{steps.n.count}}"
"""
    result, events = await run(agents, skill, numbers=numbers(9))
    assert result.output == 9
    assert any(event.HasField("marker_recorded_event_attributes") for event in events) is not bool(around)


@pytest.mark.slow
async def test_without_that_limit_there_would_be_more(agents: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    most = quick_steps.AT_MOST
    monkeypatch.setattr(quick_steps, "AT_MOST", 1_000)
    monkeypatch.setattr(quick_steps, "QUICK_SECONDS", 60)
    _, events = await run(agents, many(agents.ledger()), numbers=numbers(COUNT))
    # A workflow task that takes longer than the SDK lets it is ended by it, and goes on as another one.
    assert max(together(events)) > most


@pytest.mark.slow
@pytest.mark.parametrize(("retry", "tries"), [("", 3), (", retry: 1", 1), (", retry: 2", 2)])
async def test_one_that_fails_is_tried_as_often_as_its_step_says(
    agents: Bench, request: pytest.FixtureRequest, retry: str, tries: int
) -> None:
    ledger = agents.ledger()
    skill = f'steps: [{{id: a, tool: flaky_quickly, args: {{ledger: "{ledger}", fails: 9}}{retry}}}]'
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.run(skill)
    assert "step a: " in str(caught.value.cause)
    assert len(lines(ledger)) == tries + begun_again(request, len(lines(ledger)) - tries)


@pytest.mark.slow
async def test_one_that_fails_once_goes_on_as_any_other(agents: Bench, request: pytest.FixtureRequest) -> None:
    ledger = agents.ledger()
    skill = f'steps: [{{id: a, tool: flaky_quickly, args: {{ledger: "{ledger}", fails: 1}}}}]'
    result, _ = await run(agents, skill + '\noutput: "${steps.a.output}"')
    tries = len(lines(ledger))
    assert tries == 2 + begun_again(request, tries - 2)
    assert result.output in range(2, tries + 1)


@pytest.mark.slow
@pytest.mark.parametrize(("retry", "tries"), [("", 5), (", retry: 2", 2)])
async def test_one_that_did_nothing_counts_where_its_step_says_how_often(
    agents: Bench, request: pytest.FixtureRequest, retry: str, tries: int
) -> None:
    ledger = agents.ledger()
    skill = f'steps: [{{id: a, tool: hesitant_quickly, args: {{ledger: "{ledger}"}}{retry}}}]'
    with pytest.raises(WorkflowFailureError):
        await agents.run(skill)
    assert len(lines(ledger)) == tries + begun_again(request, len(lines(ledger)) - tries)


async def test_a_call_knows_when_it_is_cut_off_and_which_attempt_it_is(
    agents: Bench, request: pytest.FixtureRequest
) -> None:
    skill = f'steps: [{{id: a, tool: tell_quickly, args: {{ledger: "{agents.ledger()}"}}}}]'
    told: Any = (await run(agents, skill + '\noutput: "${steps.a.output}"'))[0].output
    *given_up, (first, left, key), (second, more, same) = told
    assert len(given_up) == begun_again(request, len(given_up))
    assert [attempt for attempt, _, _ in given_up] == [1] * len(given_up)
    assert (first, second) == (1, 2)
    assert left <= QUICK_SECONDS < more
    assert key == same


@pytest.mark.slow
async def test_a_worker_without_the_tool_replays_what_it_did(servers: Servers, tmp_path: Path) -> None:
    skill = """
steps:
  - {id: quick, tool: echo_quickly, args: {value: 1}}
  - {id: ask, tool: look, args: {name: x, known: false}, expect: "${false}", ask: "Which?"}
output: "${steps.quick.output}"
"""
    async with bench(servers, tmp_path) as here:
        handle = await here.start(here.task(here.skill(skill)))
        await question_of(handle)
        queue = here.queue
    async with bench(servers, tmp_path, queue=queue, more={"tools": ("tests.support.tools",)}):
        assert (await question_of(handle)).id == "ask"
        await handle.execute_update("answer", Answer(question_id="ask", value="MIT"))
        assert (await handle.result()).output == 1


@pytest.mark.slow
async def test_large_lists_at_once_do_not_end_the_task(agents: Bench) -> None:
    text = """
inputs: {numbers: list, large: list}
steps:
  - for_each: "${inputs.numbers}"
    as: n
    at_once: 20
    steps:
      - for_each: "${inputs.large}"
        as: m
        steps: [{id: no, tool: echo, args: {value: 1}, when: "${false}"}]
output: "${steps.n.count}"
"""
    inputs: dict[str, JsonValue] = {"numbers": numbers(20), "large": ["x" * 200_000]}
    handle = await agents.start(agents.task(agents.skill(text), inputs=inputs))
    assert (await handle.result()).output == 20


@pytest.mark.slow
async def test_a_history_of_quick_steps_is_rolled_over_as_soon_as_others(agents: Bench) -> None:
    ledger = agents.ledger()
    handle = await agents.start(agents.task(agents.skill(many(ledger)), inputs={"numbers": numbers(400)}))
    open_handle = agents.client.get_workflow_handle(handle.id)
    await open_handle.result()
    first = agents.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
    made = sum(together([event async for event in first.fetch_history_events()]))
    assert made <= EVENTS / ACTIVITY, "a replay takes as long for each as for any other step"


@pytest.mark.slow
async def test_one_that_is_not_quick_runs_as_any_other(agents: Bench, request: pytest.FixtureRequest) -> None:
    ledger = agents.ledger()
    skill = f'steps: [{{id: a, tool: linger_quickly, args: {{ledger: "{ledger}"}}, retry: 1}}]'
    result, _ = await run(agents, skill + '\noutput: "${steps.a.output}"')
    assert result.output == "late"
    assert lines(ledger) == ["started"] * (2 + begun_again(request, len(lines(ledger)) - 2))


@pytest.mark.slow
async def test_a_cancellation_waits_for_twenty_at_most(agents: Bench) -> None:
    ledger = agents.ledger()
    handle = await agents.start(agents.task(agents.skill(many(ledger)), inputs={"numbers": numbers(2_000)}))
    await until_true(lambda: len(lines(ledger)) >= COUNT)
    await handle.cancel()
    then = len(lines(ledger))
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    # The workflow task that runs when it comes, and one that was given out right before.
    assert len(lines(ledger)) - then <= 2 * (quick_steps.AT_MOST + 1)


async def steps_before_it_is_handled(agents: Bench, handle: WorkflowHandle[Any, Any], ledger: Path) -> int:
    """Return how many steps end between when Temporal has an update and when the task handles it."""
    sending, feedback = uuid4().hex, TaskFeedback(passed=True, by=Actor(kind=ActorKind.PERSON, id="ada"))
    handling = asyncio.create_task(sent_update(handle, "feedback", feedback, Progress, sending=sending))
    await update_arrived(agents.client, handle.id, sending)
    # Those whose calls have begun by now; without a cache, one may begin twice.
    then = len({*lines(ledger)})
    return (await handling).done - then


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "most"), [(0.0, quick_steps.AT_MOST), (0.1, 6)], ids=["number", "time"])
@pytest.mark.parametrize("bounded", [True, False], ids=["bounded", "control"])
async def test_an_update_waits_for_twenty_steps_or_half_a_second_at_most(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, seconds: float, most: int, bounded: bool
) -> None:
    if not bounded:
        monkeypatch.setattr(quick_steps, "AT_MOST", 1_000)
        monkeypatch.setattr(quick_steps, "QUICK_SECONDS", 60)
    ledger = agents.ledger()
    skill = agents.skill(many(ledger, seconds=seconds))
    handle = await agents.start(agents.task(skill, inputs={"numbers": numbers(4_000)}))
    await until_true(lambda: len(lines(ledger)) >= 10)
    # Each but the first comes as a workflow task has just begun.
    waited = [await steps_before_it_is_handled(agents, handle, ledger) for _ in range(3)]
    await handle.terminate()
    assert (max(waited) <= most) is bounded, waited


@pytest.mark.slow
@pytest.mark.parametrize("cache", [1000, 0])
async def test_they_go_on_while_the_history_is_rolled_over(servers: Servers, tmp_path: Path, cache: int) -> None:
    async with bench(servers, tmp_path, continue_after=40, max_cached_workflows=cache) as agents:
        ledger = agents.ledger()
        handle = await agents.start(agents.task(agents.skill(many(ledger)), inputs={"numbers": numbers(100)}))
        result = await handle.result()
    assert result.output == 100
    # A busy machine may cut one off, which then runs once more.
    assert list(dict.fromkeys(lines(ledger))) == numbers(100)
