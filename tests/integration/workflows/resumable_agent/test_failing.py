"""What goes wrong is refused where it enters, or ends the task with a message; nothing is retried for ever."""

import asyncio
import inspect
import json
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.api.common.v1 import Payload, Payloads, WorkflowType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from perdure.memory.writing.batch_checks import read_batch
from perdure.values.jobs import SessionNote
from perdure.values.tasks import Progress, StepStatus
from tests.support.harness import Bench
from tests.support.tools import raises
from tests.support.waiting import until


async def refused(agents: Bench, text: str, **more: Any) -> str:
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.run(text, **more)
    cause = caught.value.cause
    assert isinstance(cause, ApplicationError)
    return cause.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("skill", "message"),
    [
        ("steps: [{id: a, tool: ecko}]", ".yaml:2: steps[0].tool: there is no tool 'ecko' (did you mean 'echo'?)"),
        ("steps: [{id: a, tool: echo, args: {value: '${b}'}}]", ".yaml:2: steps[0].args: there is no name 'b'"),
        ("steps: [{id: a, tool: echo, args: {value: '${1 +}'}}]", "does not parse"),
        ("stps: []", "stps: is not a field here (did you mean 'steps'?)"),
        ("steps: [", "is not YAML"),
        (
            "steps: [{id: a, tool: look, args: {name: 3}}]",
            ".yaml:2: steps[0].args.name: is a number (put it in quotes)",
        ),
        (
            "steps: [{id: a, tool: echo, args: {value: 1}}, {id: b, tool: look, args: {name: '${steps.a.output}'}}]",
            "step b: PRD104 b.args.name: is a number (put it in quotes)",
        ),
        ("steps: [{id: a, tool: big, args: {size: 2100000}}]", "step a: PRD110 tool 'big' returned 2,100,002 bytes"),
        ("steps: [{id: a, tool: echo, args: {value: 1}, expect: '${output == 2}'}]", "PRD111 a: the result is not"),
        (
            "steps: [{id: a, tool: big, args: {size: 1900000}}]\noutput: ['${steps.a.output}', '${steps.a.output}']",
            "PRD110 output: has 3,800,008 bytes",
        ),
        ("steps: [{id: a, tool: echo, args: {value: 1}}]\noutput: '${0.0 / 0.0}'", "PRD103 output: "),
        ("steps: [{id: a, tool: garbles}]", "step a: PRD112 tool 'garbles' raised OSError: no file ?"),
        ("steps: [{for_each: '${task.id}', as: x, steps: [{id: a, tool: who}]}]", "is text, not a list"),
    ],
)
async def test_a_bad_skill(agents: Bench, skill: str, message: str) -> None:
    assert message in await refused(agents, skill)


async def test_an_unknown_skill_and_input(agents: Bench) -> None:
    name = agents.skill("inputs: {a: string}\nsteps: [{id: b, tool: who}]")
    for task, message in [
        (agents.task(name[:-1], inputs={}), f"no skill '{name[:-1]}' (did you mean '{name}'?)"),
        (agents.task(name, inputs={"aa": 1}), "PRD101 inputs.aa"),
        (agents.task(name), "PRD101 inputs.a: is missing"),
    ]:
        with pytest.raises(WorkflowFailureError) as caught:
            await (await agents.start(task)).result()
        assert isinstance(caught.value.cause, ApplicationError)
        assert message in caught.value.cause.message


async def test_limits_stop_a_task(agents: Bench) -> None:
    text = "steps: [{id: a, tool: who}, {id: b, tool: who}]"
    assert "the task may run 1 step (limits.steps)" in await refused(agents, text, limits={"steps": 1})


@pytest.mark.slow
async def test_a_tool_is_tried_again_and_killed_attempts_aside_not_for_ever(agents: Bench) -> None:
    ledger = agents.ledger()
    good = await agents.run(
        f"steps: [{{id: a, tool: flaky, args: {{ledger: '{ledger}', fails: 1}}}}]\noutput: '${{steps.a.output}}'"
    )
    assert good.output == 2
    other = agents.ledger()
    message = await refused(agents, f"steps: [{{id: a, tool: flaky, args: {{ledger: '{other}', fails: 9}}}}]")
    assert message.startswith(
        "step a: PRD112 tool 'flaky' raised RuntimeError: secret number 3 (tests/support/tools.py:"
    )
    assert len(other.read_text().splitlines()) == 3


async def test_a_failed_step_that_may_fail_is_passed_over(agents: Bench) -> None:
    result = await agents.run(
        """
steps:
  - {id: a, tool: big, args: {size: 2100000}, on_failure: continue}
output: "${steps.a.status} ${steps.a.output == null} ${steps.a.problem.contains('PRD110')}"
"""
    )
    assert (result.output, result.failed) == ("failed true true", 1)


@pytest.mark.slow
async def test_not_done_is_simply_retried(agents: Bench) -> None:
    ledger = agents.ledger()
    result = await agents.run(
        f"steps: [{{id: a, tool: hesitant, args: {{ledger: '{ledger}'}}}}]\noutput: '${{steps.a.output}}'"
    )
    assert result.output == 2


@pytest.mark.slow
async def test_a_thread_that_outlives_its_call_acts_once(agents: Bench) -> None:
    ledger = agents.ledger()
    args = f"{{ledger: '{ledger}', line: x, seconds: 2.5}}"
    result = await agents.run(f"steps: [{{id: a, tool: append_late, args: {args}}}]\noutput: '${{steps.a.output}}'")
    assert result.output == "x"
    assert ledger.read_text() == "x\n"


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "more", "seconds"), [("flaky", ", fails: 2", 3.0), ("hesitant", "", 1.0)])
async def test_after_an_error_the_next_attempt_waits(agents: Bench, tool: str, more: str, seconds: float) -> None:
    args = f"{{ledger: '{agents.ledger()}'{more}}}"
    handle = await agents.start(agents.task(agents.skill(f"steps: [{{id: a, tool: {tool}, args: {args}}}]")))
    await handle.result()
    events = {event.event_id: event for event in (await handle.fetch_history()).events}
    [(scheduled, started)] = [
        (events[event.activity_task_started_event_attributes.scheduled_event_id], event)
        for event in events.values()
        if event.HasField("activity_task_started_event_attributes")
        and event.activity_task_started_event_attributes.attempt > 1
    ]
    # 1 s, then 2 s: only an attempt that died with its worker is followed at once.
    assert (started.event_time.ToDatetime() - scheduled.event_time.ToDatetime()).total_seconds() >= seconds


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"task_id": "a", "skill": "b"}', "PRD101 user_id: is missing"),
        (b'{"task_id": "a b", "user_id": "u", "skill": "b"}', "PRD101 task_id: "),
        (b'{"task_id": "a", "user_id": "u", "skil": "b"}', "did you mean 'skill'"),
        (b"[1]", "PRD101"),
        (b"{nonsense", "PRD101"),
        (None, "PRD101 task: is missing"),
    ],
)
async def test_a_malformed_input_from_the_ui_fails_the_workflow(
    agents: Bench, content: bytes | None, message: str
) -> None:
    payload = Payload(metadata={"encoding": b"json/plain"}, data=content or b"")
    failure = await failed_from_ui(agents, "ResumableAgent", [payload] if content is not None else [])
    assert message in failure.message
    assert json.dumps(failure.message)


@pytest.mark.parametrize("workflow", ["IngestMemory", "ForgetMemory", "UndoForgetting"])
async def test_a_start_without_input_fails_the_workflow(agents: Bench, workflow: str) -> None:
    failure = await failed_from_ui(agents, workflow, [])
    assert failure.message.startswith("PRD100 input: is missing (give a")


@pytest.mark.slow
@pytest.mark.parametrize("workflow", ["ResumableAgent", "IngestMemory", "ForgetMemory", "UndoForgetting"])
@pytest.mark.parametrize("encoding", [b"json/protobuf", b"binary/plain", b"binary/null", b""])
async def test_an_input_in_another_encoding_fails_the_workflow(agents: Bench, workflow: str, encoding: bytes) -> None:
    data = b"" if encoding == b"binary/null" else b'{"task_id": "a", "user_id": "u", "skill": "s"}'
    payload = Payload(metadata={"encoding": encoding} if encoding else {}, data=data)
    failure = await failed_from_ui(agents, workflow, [payload])
    assert failure.type in ("InvalidTask", "InvalidInput")
    assert failure.non_retryable


async def failed_from_ui(agents: Bench, workflow: str, payloads: list[Payload]) -> ApplicationError:
    """Start a workflow the way the UI does, and wait until it has failed."""
    identifier = f"ui-{uuid4().hex}"
    await agents.client.workflow_service.start_workflow_execution(
        StartWorkflowExecutionRequest(
            namespace="default",
            workflow_id=identifier,
            workflow_type=WorkflowType(name=workflow),
            task_queue=TaskQueue(name=agents.queue),
            input=Payloads(payloads=payloads),
            request_id=identifier,
        )
    )
    with pytest.raises(WorkflowFailureError) as caught:
        async with asyncio.timeout(20):
            await agents.client.get_workflow_handle(identifier).result()
    assert isinstance(caught.value.cause, ApplicationError)
    return caught.value.cause


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"inputz": {}}, "PRD101 inputz: is not a field here (did you mean 'inputs'?)"),
        ({"zzz": 1}, "PRD101 zzz: is not a field here (there are: agent, chat, date, goal, inputs, limits, "),
        ({"limits": {"step": 5}}, "PRD101 limits.step: is not a field here (did you mean 'steps'?)"),
        ({"memory": "of"}, "PRD101 memory: 'of' is not one of the choices (did you mean 'off'?)"),
        ({"carried": None, "skil": "x"}, "PRD101 skil: is not a field here (did you mean 'skill'?)"),
        ({"carried": {}}, "PRD101 carried."),
        ({"date": "1960-01-01"}, "PRD101 date: is before 1970 (give the day that the task is about)"),
    ],
)
async def test_an_unusable_field_of_a_task_that_was_started_directly_is_refused(
    agents: Bench, more: dict[str, Any], message: str
) -> None:
    skill = agents.skill("steps: [{id: a, tool: who}]")
    content = json.dumps({"task_id": "a", "user_id": "u", "skill": skill, **more}).encode()
    payload = Payload(metadata={"encoding": b"json/plain"}, data=content)
    failure = await failed_from_ui(agents, "ResumableAgent", [payload])
    assert failure.message.startswith(message)
    assert "carried" not in failure.message or "carried" in message
    assert (failure.type, failure.non_retryable) in {("InvalidTask", True), ("TaskFailed", True)}


def with_state(agents: Bench, tenant: str = "another", user: str = "", **learned: JsonValue) -> Payload:
    """Return a task with the state of another one."""
    task = agents.task(agents.skill("steps: [{id: a, tool: echo, args: {value: 1}, approve: 'Go on?'}]"))
    prepared = {
        **{"tenant": tenant, "skill": {"name": "s", "steps": [{"kind": "tool", "id": "a", "tool": "who"}]}},
        **{"version": "", "tools": {}, "inputs": {}, "reads": {}, "date": "2026-01-01", "heartbeat": 4},
    }
    state = {"prepared": prepared, "started_at": "2026-01-01T00:00:00Z", "renewed_at": "2026-01-01T00:00:00Z"}
    own = {"carried": state | {"learned": learned}, "user_id": user or task.user_id}
    data = json.dumps({**task.model_dump(mode="json"), **own}).encode()
    return Payload(metadata={"encoding": b"json/plain"}, data=data)


async def test_a_state_that_somebody_sends_with_a_task_is_refused(agents: Bench) -> None:
    failure = await failed_from_ui(agents, "ResumableAgent", [with_state(agents)])
    assert failure.message == "PRD101 carried: is not a field here"


def carried_by(kind: str, agents: Bench) -> Payload:
    """Return the input of a workflow that names one user, with the state of another one's run."""
    if kind == "ResumableAgent":
        return with_state(agents)
    tenant, report, now = f"t_{'7' * 64}", {"tenants": 1}, "2026-01-01T00:00:00Z"
    inputs: dict[str, dict[str, Any]] = {
        "EraseMemory": {
            "user_id": "bob",
            "carried": {
                "erasure": {"tenant": tenant, "epoch": 1, "at": now, "operation": "o"},
                **dict.fromkeys(("entries", "keys", "executions"), 0),
            },
        },
        "ForgetMemory": {"carried": {"now": now, "after": "", "sweep": "s", "report": {}}},
        "UndoForgetting": {"sweep": "s", "carried": {"sweep": "s", "now": now, "after": "", "restored": 0}},
        "ReconcileMemory": {"carried": {"losses": [], "after": "", "found": {}, "operation": "o"}},
        "RedateMemory": {"carried": {"call": {"operation": "o", "by": {"kind": "person"}}, "report": report}},
    }
    return Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(inputs[kind]).encode())


async def started_by_cron(agents: Bench, kind: str, given: Payload) -> str:
    """Start a workflow each second; return its id.

    Temporal says of its later runs, as of those that a foreign workflow continues as, that they were continued.
    """
    identifier = f"cron-{uuid4().hex}"
    await agents.client.workflow_service.start_workflow_execution(
        StartWorkflowExecutionRequest(
            namespace="default",
            workflow_id=identifier,
            workflow_type=WorkflowType(name=kind),
            task_queue=TaskQueue(name=agents.queue),
            input=Payloads(payloads=[given]),
            request_id=identifier,
            cron_schedule="@every 1s",
        )
    )
    return identifier


@pytest.mark.slow
async def test_what_a_state_carries_to_memory_goes_to_the_tasks_own_user(agents: Bench) -> None:
    user, other = f"user {uuid4().hex}", f"t_{uuid4().hex}"
    own = agents.services.tenant_key.tenant_of(user)
    item: dict[str, JsonValue] = {"kind": "memory", "content": "Marzipan is made of almonds.", "occurrence": "o"}
    batch = read_batch(tenant=other, key=uuid4().hex, items=[{**item, "occurred_at": "2026-01-01T00:00:00Z"}])
    batch = batch.changed(noted_in=SessionNote(tenant=other, session="s"))
    forged = with_state(agents, own, user, unsent=[batch.model_dump(mode="json")])
    episodes = agents.services.episodes

    async def noted() -> bool:
        return any("Marzipan" in one.text for some in (await episodes.everything(own)).values() for one in some)

    identifier = await started_by_cron(agents, "ResumableAgent", forged)
    try:
        await until(lambda: agents.services.longterm.everything(own), bool)
        await until(noted, bool)
    finally:
        await agents.client.get_workflow_handle(identifier).terminate()
    assert await agents.services.longterm.everything(other) == {}
    assert await episodes.everything(other) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ["ResumableAgent", "EraseMemory", "ForgetMemory", "UndoForgetting", "ReconcileMemory", "RedateMemory"],
)
async def test_a_state_that_somebody_sends_by_a_cron_schedule_is_refused_in_each_run(agents: Bench, kind: str) -> None:
    identifier = await started_by_cron(agents, kind, carried_by(kind, agents))

    async def failures() -> list[str]:
        found: list[str] = []
        async for run in agents.client.list_workflows(f"WorkflowId = '{identifier}' AND ExecutionStatus != 'Running'"):
            history = await agents.client.get_workflow_handle(identifier, run_id=run.run_id).fetch_history()
            last = history.events[-1]
            again = last.workflow_execution_continued_as_new_event_attributes.failure.message
            found.append(again or last.workflow_execution_failed_event_attributes.failure.message)
        return found

    try:
        found = await until(failures, lambda some: len(some) >= 2)
    finally:
        await agents.client.get_workflow_handle(identifier).terminate()
    code = "PRD101" if kind == "ResumableAgent" else "PRD100"
    assert set(found) == {f"{code} carried: is not a field here"}


STEPS = """
steps:
  - id: off
    when: "${1 == 2}"
    tool: who
  - id: wrong
    tool: raises
    args: {text: no such shelf}
    on_failure: continue
  - id: fine
    tool: who
  - id: fatal
    tool: raises
    args: {text: the last one}
"""


@pytest.mark.slow
async def test_what_failed_and_what_was_skipped_is_listed_with_the_reason_and_the_tools_own_line(agents: Bench) -> None:
    handle = await agents.start(agents.task(agents.skill(STEPS)))
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    ended = await handle.query("progress", result_type=Progress)
    assert [(one.step, one.status, one.problem.partition(" (")[0]) for one in ended.incomplete] == [
        ("off", StepStatus.SKIPPED, "its condition"),
        ("wrong", StepStatus.FAILED, "PRD112 tool 'raises' raised ValueError: no such shelf"),
        ("fatal", StepStatus.FAILED, "PRD112 tool 'raises' raised ValueError: the last one"),
    ]
    line = inspect.getsourcelines(raises.function)[1] + 3
    assert f"(tests/support/tools.py:{line} in raises)" in ended.problem
    frames = ended.incomplete[-1].frames
    assert frames[0].told == f"tests/support/tools.py:{line} in raises"
    assert all(frame.library for frame in frames[1:])
