"""What a task's history says: a completed activity under a tool's name acted, or used what was recorded of it."""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio import workflow
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure import TaskResult
from perdure.agent.steps.calls import StepCall
from perdure.names import Activity
from perdure.values.questions import Approval, EffectFate
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_questions_to_people import answer
from tests.support.goals import AGENT, agents_on, goal
from tests.support.guarding import Policies
from tests.support.harness import Bench, bench
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import question_of


@pytest.fixture(scope="module")
def agents(guarded: Bench) -> Bench:
    return guarded


async def events_of(handle: WorkflowHandle[Any, Any]) -> list[HistoryEvent]:
    return [event async for event in handle.fetch_history_events()]


def scheduled(events: Iterable[HistoryEvent]) -> list[str]:
    """Return the activities of the tools' names, in their order."""
    names = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    return [name for name in names if name not in set(Activity)]


def failures(events: Iterable[HistoryEvent]) -> list[Failure]:
    """Return what activities failed with, local ones too."""
    found = [
        event.activity_task_failed_event_attributes.failure
        for event in events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED
    ]
    markers = [event.marker_recorded_event_attributes for event in events]
    return [*found, *(one.failure for one in markers if one.HasField("failure"))]


def completed(events: Iterable[HistoryEvent]) -> int:
    """Return how many activities of tools completed."""
    events = list(events)
    tools = {
        event.event_id: event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    }
    ended = (event.activity_task_completed_event_attributes.scheduled_event_id for event in events)
    return sum(tools.get(one, Activity.ANNOUNCE) not in set(Activity) for one in ended)


def require_asks(failure: Failure) -> None:
    info = failure.application_failure_info
    assert (info.type, info.non_retryable, info.category) == ("Asks", True, 1)


async def ended(handle: WorkflowHandle[Any, TaskResult], agents: Bench) -> list[HistoryEvent]:
    await handle.result()
    await agents.replay(handle)
    return await events_of(handle)


def kinds(events: Iterable[HistoryEvent]) -> Counter[int]:
    return Counter(event.event_type for event in events)


@pytest.mark.slow
async def test_a_step_that_is_skipped_runs_nothing_under_its_tools_name(agents: Bench) -> None:
    def steps(when: str) -> str:
        return f"steps: [{{id: a, tool: echo, args: {{value: 1}}{when}}}]\noutput: '${{steps.a.status}}'"

    async def run(when: str) -> tuple[Any, list[HistoryEvent]]:
        handle = await agents.start(agents.task(agents.skill(steps(when))))
        events = await ended(handle, agents)
        return (await handle.result()).output, events

    plain, events = await run("")
    assert (plain, scheduled(events)) == ("done", ["echo"])
    assert EventType.EVENT_TYPE_MARKER_RECORDED not in kinds(events), "a step without conditions costs nothing more"
    met, conditional = await run(", when: '${1 == 1}'")
    assert (met, scheduled(conditional)) == ("done", ["echo"])
    assert kinds(conditional) - kinds(events) == Counter({EventType.EVENT_TYPE_MARKER_RECORDED: 1})
    assert not kinds(events) - kinds(conditional)
    skipped, less = await run(", when: '${1 == 2}'")
    assert (skipped, scheduled(less)) == ("skipped", [])


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["echo", "echo_quickly"])
async def test_of_many_conditions_twenty_at_most_are_looked_at_in_one_workflow_task(agents: Bench, tool: str) -> None:
    skill = agents.skill(f"""
steps:
  - for_each: "${{[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]}}"
    as: n
    steps: [{{id: a, tool: {tool}, args: {{value: "${{n}}"}}, when: "${{n == 25}}"}}]
output: ["${{steps.n.done}}", "${{steps.n.skipped}}"]
""")
    handle = await agents.start(agents.task(skill))
    events = await ended(handle, agents)
    assert (await handle.result()).output == [1, 25]
    assert scheduled(events) == (["echo"] if tool == "echo" else [])
    ran = [event.activity_task_scheduled_event_attributes.activity_type.name for event in events]
    assert ran.count(Activity.DECIDE_STEP) == 1, "that gives Temporal its turn"


async def test_nobody_is_asked_about_a_call_that_cannot_be_made(agents: Bench) -> None:
    skill = agents.skill("steps: [{id: a, tool: look, args: {name: '${1 == 1}'}, approve: 'Look?'}]")
    handle = await agents.start(agents.task(skill))
    with pytest.raises(WorkflowFailureError) as raised:
        await handle.result()
    assert "PRD104 a.args.name" in str(raised.value.cause)
    assert scheduled(await events_of(handle)) == []


@pytest.mark.parametrize("said", Approval)
@pytest.mark.parametrize("tool", ["append", "append_quickly"])
async def test_a_tools_activity_begins_once_a_person_has_approved_it(agents: Bench, tool: str, said: str) -> None:
    ledger = agents.ledger()
    skill = agents.skill(
        f"steps: [{{id: a, tool: {tool}, args: {{ledger: '{ledger}', line: x}}, approve: 'Write x?'}}]\n"
        "output: '${steps.a.status}'"
    )
    handle = await agents.start(agents.task(skill))
    question = await question_of(handle)
    assert question.about is not None
    assert (question.about.tool, json.loads(question.about.arguments)["line"]) == (tool, "x")
    assert scheduled(await events_of(handle)) == []
    await answer(handle, "a", said)
    events = await ended(handle, agents)
    is_approved = said == Approval.YES
    assert (await handle.result()).output == ("done" if is_approved else "skipped")
    assert ledger.exists() == is_approved
    assert scheduled(events) == (["append"] if is_approved and tool == "append" else [])
    assert failures(events) == []


@pytest.mark.slow
async def test_an_effect_of_unknown_fate_ends_its_activity_as_a_failure(agents: Bench) -> None:
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: breaks, args: {{ledger: '{ledger}', line: secret}}}}]")
    handle = await agents.start(agents.task(skill))
    await question_of(handle)
    events = await events_of(handle)
    assert completed(events) == 0
    [failure] = failures(events)
    require_asks(failure)
    assert "secret" not in failure.message
    await answer(handle, "a", EffectFate.DONE)
    events = await ended(handle, agents)
    assert (completed(events), len(failures(events))) == (1, 1)
    assert ledger.read_text() == "secret\n"


@pytest.mark.parametrize("said", Approval)
@pytest.mark.parametrize("tool", ["append", "append_quickly"])
async def test_a_policy_that_asks_ends_the_activity_as_a_failure(
    agents: Bench, policies: Policies, tool: str, said: str
) -> None:
    policies.write("ask-first", when=f"tool == '{tool}'", approve="May it be written?")
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: {tool}, args: {{ledger: '{ledger}', line: secret}}}}]")
    handle = await agents.start(agents.task(skill))
    await question_of(handle)
    [failure] = failures(await events_of(handle))
    require_asks(failure)
    assert "secret" not in failure.message
    await answer(handle, "a", said)
    events = await ended(handle, agents)
    is_permitted = said == Approval.YES
    assert completed(events) == (is_permitted and tool == "append")
    assert len(failures(events)) == 1
    assert ledger.exists() == is_permitted


@pytest.mark.slow
async def test_a_call_that_a_model_wants_begins_once_a_person_has_approved_it(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer
) -> None:
    def script(asked: Asked) -> Says:
        return Says("done") if asked.turns else Says(calls=(Call("append", {"ledger": str(ledger), "line": "x"}),))

    opened = agents_on(servers, tmp_path, httpserver)
    async with opened(script, f"{AGENT}approve: [append]\n") as (one, _):
        ledger = one.ledger()
        handle = await one.start(goal())
        question = await question_of(handle)
        assert scheduled(await events_of(handle)) == []
        await answer(handle, question.id, Approval.YES)
        assert (scheduled(await ended(handle, one)), ledger.read_text()) == (["append"], "x\n")


async def test_what_is_blocked_is_a_failure_under_the_tools_name(agents: Bench, policies: Policies) -> None:
    policies.write("no-writing", when="tool == 'append_quickly'")
    ledger = agents.ledger()
    skill = agents.skill(f"steps: [{{id: a, tool: append_quickly, args: {{ledger: '{ledger}', line: x}}}}]")
    handle = await agents.start(agents.task(skill))
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    [failure] = failures(await events_of(handle))
    info = failure.application_failure_info
    assert (info.type, info.non_retryable, info.category) == ("Blocked", True, 1)


@workflow.defn(name="Undecided", sandboxed=False)
class Undecided:
    """Has a tool called without asking first whether it is to be, as workflows of older builds do."""

    @workflow.run
    async def run(self, call: StepCall) -> dict[str, Any]:
        """Call it."""
        how: dict[str, Any] = {"start_to_close_timeout": timedelta(seconds=10)}
        done: dict[str, Any] = await workflow.execute_activity(call.step.tool, call, **how)
        return done


@pytest.mark.parametrize(
    ("more", "acts"),
    [({"approve": "Write x?"}, False), ({"when": "${1 == 2}"}, False), ({"when": "${1 == 1}"}, True), ({}, True)],
    ids=["unapproved", "not met", "met", "control"],
)
async def test_no_workflow_has_a_tool_called_that_a_person_was_to_approve(
    servers: Servers, tmp_path: Path, more: dict[str, str], *, acts: bool
) -> None:
    async with bench(servers, tmp_path, more_workflows=[Undecided]) as agents:
        ledger = agents.ledger()
        call = {
            **{
                "tenant": "t_ada",
                "session": "s",
                "task_id": ledger.name,
                "path": "a",
                "occurred_at": "2026-05-01T12:00:00Z",
            },
            "step": {"id": "a", "tool": "append", "args": {"ledger": str(ledger), "line": "x"}, **more},
            "acting": {"user": "ada", "agent": "", "skill": "s", "task_skill": "s", "date": "2026-05-01", "done": 0},
        }
        with suppress(WorkflowFailureError):
            await agents.execute("Undecided", StepCall.model_validate(call))
        assert ledger.exists() == acts
