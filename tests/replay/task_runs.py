"""The tasks whose histories are recorded: between them, every way through a task's workflow."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleSpec,
    WorkflowHandle,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure import AgentTask, Answer, Event
from perdure.values.tasks import MemoryMode
from tests.replay import ruled_runs
from tests.replay.recorder import Recorder
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import progress_of, question_of, until, until_true

LEARN = """
inputs: {names: list}
steps:
  - id: known
    recall: {lane: pattern, keys: "${inputs.names}", enough: 0}
  - for_each: "${inputs.names}"
    as: name
    steps:
      - id: look
        tool: look
        args: {name: "${name}", known: "${name != 'gamma'}"}
        when: "${!(name in steps.known.records)}"
        expect: "${output.licence != null}"
        ask: "What licence has ${name}?"
        critical: true
        remember:
          - {lane: pattern, key: "${name}", payload: {licence: "${output.licence}", on: "${task.date}"}}
      - id: note
        tool: echo
        args: {value: "${steps.look.status}"}
        remember: [{memory: "The licence of ${name} was ${output}.", type: fact}]
  - {id: large, tool: big, args: {size: 9000}}
  - {id: me, tool: who}
  - for_each: "${[]}"
    as: nothing
    steps: [{id: none, tool: echo, args: {value: 1}}]
  - id: learned
    remember:
      - {lane: pattern, key: "licences", payload: "${steps.name.done}"}
      - {lane: pattern, key: "${''}", payload: 1}
output: {known: "${steps.known.records}", looked: "${steps.name.done}", size: "${steps.large.output.size()}"}
expect: "${output.size == 9000}"
"""

MEMORY_ONLY = """
steps:
  - {id: known, recall: {text: "a licence"}}
  - {id: learned, remember: [{lane: pattern, key: k, payload: "${steps.known.items.size()}"}]}
output: "${steps.learned.status}"
"""

APPROVED = """
steps:
  - {id: act, tool: append, args: {ledger: ledger, line: "${task.id}"}, approve: "Write ${task.id}?"}
output: "${steps.act.status}"
"""

ASKED = """
steps:
  - {id: first, tool: echo, args: {value: 1}, remember: [{lane: pattern, key: k, payload: "${output}"}]}
  - {id: ask, tool: look, args: {name: x, known: false}, expect: "${output.licence != null}", ask: "Which?"}
output: "${steps.ask.answer}"
"""

PROMPTED = """
steps:
  - id: number
    prompt: "Which number?"
    model: openai:test
    output: {n: integer}
    remember: [{memory: "The number is ${output.n}."}]
output: "${steps.number.output}"
"""

FAILING = """
steps:
  - {id: passed, tool: big, args: {size: 2100000}, on_failure: continue}
  - {id: asked, tool: big, args: {size: 2100000}, on_failure: ask}
  - {id: wrong, tool: echo, args: {value: 1}, expect: "${output == 2}"}
"""

ROLLED = """
inputs: {text: string}
steps:
  - for_each: "${[1, 2, 3, 4, 5]}"
    as: n
    steps:
      - {id: a, tool: echo, args: {value: "${n} ${inputs.text.size()}"}, remember: [
          {lane: pattern, key: "k${n}", payload: "${output}"}]}
  - {id: ask, tool: look, args: {name: x, known: false}, expect: "${false}", ask: "Which?"}
  - for_each: "${[1, 2, 3, 4]}"
    as: m
    steps:
      - {id: b, tool: echo, args: {value: "${m} ${steps.ask.answer}"}}
  - {id: last, tool: echo, args: {value: 1}, approve: "Go on?"}
output: "${steps.n.count + steps.m.count}"
"""


BESIDE = """
steps:
  - for_each: "${[1, 2, 3, 4]}"
    as: n
    at_once: 2
    steps:
      - {id: go, tool: echo, args: {value: "${n}"}, expect: "${n != 2}", ask: "Which?", answer: integer}
      - {id: next, tool: echo, args: {value: "${steps.go.answer == null ? steps.go.output : steps.go.answer}"}}
  - parallel:
      - {id: left, tool: echo, args: {value: l}}
      - - {id: right, tool: echo, args: {value: r}}
        - {id: again, tool: echo, args: {value: "${steps.right.output}r"}}
output: "${[steps.left.output, steps.again.output, steps.n.done]}"
"""

PAUSED = """
inputs: {at: string}
steps:
  - let: {literal: 1, worked_out: "${task.id}"}
  - parallel:
      - [{id: moment, wait: "${inputs.at}"}, {id: say, tool: echo, args: {value: "${worked_out} ${literal}"}}]
      - {id: time, wait: 1s}
      - {id: never, wait: 1d, when: "${literal == 2}"}
      - [{id: one, tool: echo, args: {value: 1}}, {id: two, tool: echo, args: {value: 2}}]
  - {id: last, tool: echo, args: {value: "${steps.time.status}"}, retry: 1, timeout: 5s}
output: "${steps.say.output} ${steps.last.output} ${steps.never.status}"
"""

EXPECTING = """
inputs: {order: string}
steps:
  - parallel:
      - {id: paid, wait: {event: "paid ${inputs.order}", deadline: 1d}}
      - {id: sent, wait: {event: sent}, when: "${inputs.order == '7'}"}
      - {id: late, wait: {event: late, deadline: 1s, otherwise: "${task.id}"}}
      - for_each: "${[1, 2, 3, 4]}"
        as: n
        steps: [{id: say, tool: echo, args: {value: "${n}"}}]
  - {id: kept, wait: {event: kept}}
  - {id: tell, tool: echo, args: {value: "${steps.paid.output} ${steps.sent.output} ${steps.kept.output.size()}"}}
output: "${steps.tell.output} ${steps.late.output}"
"""

NOTHING = "steps: [{id: paid, wait: {event: paid, deadline: 1s}}]"

QUICK = """
inputs: {ledger: string}
steps:
  - for_each: "${[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]}"
    as: n
    at_once: 3
    steps:
      - {id: go, tool: echo_quickly, args: {value: "${n}"}}
  - {id: flaky, tool: flaky_quickly, args: {ledger: "${inputs.ledger}", fails: 1}}
  - {id: slow, tool: linger_quickly, args: {ledger: "${inputs.ledger}"}}
  - {id: ask, tool: echo_quickly, args: {value: 1}, expect: "${output == 2}", ask: "Which?"}
output: "${[steps.n.done, steps.flaky.output, steps.slow.output, steps.ask.answer]}"
"""

AGENT = """
instructions: Count.
model: openai:test
tools: [echo, append, garbles]
approve: [append]
"""


async def record_tasks(here: Recorder) -> None:
    """Record them all."""
    user = f"recorder-{uuid4().hex[:12]}"
    async with asyncio.TaskGroup() as group:
        ways = (_learning, _without_memory, _scheduled, _rolled, _approving, _finding_out, _unanswered, _ending_badly)
        for runs in (*ways, _beside, _pausing, _expecting, _prompting, _reaching, _hurrying):
            group.create_task(runs(here, user))


async def _learning(here: Recorder, user: str) -> None:
    skill = here.skill("learn", LEARN)

    def task(name: str, **more: Any) -> AgentTask:
        return AgentTask.model_validate(
            {"task_id": name, "user_id": user, "skill": skill, "inputs": {"names": ["alpha", "gamma"]}, **more}
        )

    learning = await _start(here, task("learns", date="2026-01-02"))
    await _answer(learning, "MIT")
    assert (await learning.result())["skipped"] == 0
    await here.keep("agent_learns", learning)
    recalling = await _start(here, task("recalls", date="2026-01-03"))
    assert (await recalling.result())["skipped"] == 2
    await here.keep("agent_recalls", recalling)


async def _hurrying(here: Recorder, user: str) -> None:
    task = AgentTask(task_id="quick", user_id=user, skill=here.skill("quick", QUICK), inputs={"ledger": "quick"})
    handle = await _start(here, task)
    await _answer(handle, "this", "ask")
    counted, tried, *rest = (await handle.result())["output"]
    assert (counted, rest) == (24, ["late", "this"])
    # Quick steps are made again where their workflow task is, as when somebody asks where the task is meanwhile.
    assert tried >= 2
    await here.keep("agent_quick", handle)


async def _scheduled(here: Recorder, user: str) -> None:
    """A start by a schedule, whose task id has the moment in it."""
    skill = here.skill("memory_only", MEMORY_ONLY)
    task = AgentTask(task_id="scheduled", user_id=user, skill=skill, memory=MemoryMode.OFF)
    action = ScheduleActionStartWorkflow("ResumableAgent", task, id=task.workflow_id, task_queue=here.queue)
    made = await here.client.create_schedule(task.workflow_id, Schedule(action=action, spec=ScheduleSpec()))
    await made.trigger()

    async def started() -> list[ScheduleActionExecutionStartWorkflow]:
        actions = [one.action for one in (await made.describe()).info.recent_actions]
        return [one for one in actions if isinstance(one, ScheduleActionExecutionStartWorkflow)]

    [one] = await until(started, bool)
    first = one.first_execution_run_id
    handle = here.client.get_workflow_handle(one.workflow_id, first_execution_run_id=first)
    assert (await handle.result())["skipped"] == 2
    await made.delete()
    await here.keep("agent_scheduled", handle)


async def _without_memory(here: Recorder, user: str) -> None:
    skill = here.skill("memory_only", MEMORY_ONLY)
    without = await _start(here, AgentTask(task_id="without", user_id=user, skill=skill, memory=MemoryMode.OFF))
    assert (await without.result())["skipped"] == 2
    await here.keep("agent_without_memory", without)


async def _rolled(here: Recorder, user: str) -> None:
    skill = here.skill("rolled", ROLLED)
    task = AgentTask(task_id="rolled", user_id=user, skill=skill, inputs={"text": "x" * 5000})
    started = await _start(here, task, here.rolling)
    latest = here.client.get_workflow_handle(started.id)
    await _answer(latest, "this", "ask")
    await _answer(latest, "yes", "last")
    assert (await started.result())["done"] == 11
    await here.keep("agent_continued", started)


async def _approving(here: Recorder, user: str) -> None:
    for answer, status in (("yes", "done"), ("no", "skipped")):
        task = AgentTask(task_id=f"approval-{answer}", user_id=user, skill=here.skill("approved", APPROVED))
        handle = await _start(here, task)
        await _answer(handle, answer)
        assert (await handle.result())["output"] == status
        await here.keep(f"agent_approval_{answer}", handle)


async def _finding_out(here: Recorder, user: str) -> None:
    for answer in ("done", "not_done"):
        text = f"steps: [{{id: act, tool: breaks, args: {{ledger: {answer}, line: x}}}}]"
        task = AgentTask(task_id=f"fate-{answer}", user_id=user, skill=here.skill(f"fate_{answer}", text))
        handle = await _start(here, task)
        await _answer(handle, answer)
        assert (await handle.result())["done"] == 1
        await here.keep(f"agent_effect_{answer}", handle)


async def _unanswered(here: Recorder, user: str) -> None:
    soon = timedelta(seconds=1) / timedelta(hours=1)
    task = AgentTask.model_validate(
        {"task_id": "nobody", "user_id": user, "skill": here.skill("asked", ASKED), "limits": {"answer_hours": soon}}
    )
    await here.keep_failed("agent_unanswered", await _start(here, task))


async def _ending_badly(here: Recorder, user: str) -> None:
    failing = await _start(here, AgentTask(task_id="failing", user_id=user, skill=here.skill("failing", FAILING)))
    await _answer(failing, "retry", "asked")
    await _answer(failing, "skip", "asked#2")
    await here.keep_failed("agent_failed", failing)
    refused = await _start(here, AgentTask(task_id="refused", user_id=user, skill="nothing-like-it"))
    await here.keep_failed("agent_refused", refused)
    waiting = await _start(here, AgentTask(task_id="waiting", user_id=user, skill=here.skill("asked", ASKED)))
    await question_of(waiting)
    await waiting.cancel()
    await here.keep_failed("agent_cancelled_waiting", waiting)
    skill = here.skill("lingering", "steps: [{id: act, tool: linger, args: {ledger: lingering}}]")
    working = await _start(here, AgentTask(task_id="working", user_id=user, skill=skill))
    await until_true(Path("lingering").exists)
    await working.cancel()
    await here.keep_failed("agent_cancelled_working", working)


async def _beside(here: Recorder, user: str) -> None:
    beside = await _start(here, AgentTask(task_id="beside", user_id=user, skill=here.skill("beside", BESIDE)))
    await _answer(beside, "7", "n[1].go")
    assert (await beside.result())["output"] == ["l", "rr", 8]
    await here.keep("agent_beside", beside)


async def _pausing(here: Recorder, user: str) -> None:
    skill = here.skill("paused", PAUSED)
    for name, at, queue in (("paused", "2s", ""), ("paused_continued", "2020-01-01T00:00:00Z", here.rolling)):
        task = AgentTask(task_id=name, user_id=user, skill=skill, inputs={"at": at})
        handle = await _start(here, task, queue)
        assert (await here.client.get_workflow_handle(handle.id).result())["output"] == f"{name} 1 done skipped"
        await here.keep(f"agent_{name}", handle)


async def _expecting(here: Recorder, user: str) -> None:
    skill = here.skill("expecting", EXPECTING)
    for name, queue in (("expecting", ""), ("expecting_continued", here.rolling)):
        task = AgentTask(task_id=name, user_id=user, skill=skill, inputs={"order": "7"})
        started = await _start(here, task, queue)
        handle = here.client.get_workflow_handle(started.id)
        for _ in range(3):
            await _deliver(handle, Event(name="kept", value="x" * 5_000, id="once"))
        await progress_of(handle, lambda one: one.done == 5 and len(one.waits) == 2)
        for event in (Event(name="sent", value=1), Event(name="paid 7", value=2)):
            await _deliver(handle, event)
        assert (await handle.result())["output"] == f"2 1 5000 {name}"
        await here.keep(f"agent_{name}", started)
    nobody = await _start(here, AgentTask(task_id="nothing", user_id=user, skill=here.skill("nothing", NOTHING)))
    await here.keep_failed("agent_expecting_failed", nobody)


async def _prompting(here: Recorder, user: str) -> None:
    skill = here.skill("prompted", PROMPTED)
    prompted = await _start(here, AgentTask(task_id="prompted", user_id=user, skill=skill))
    assert (await prompted.result())["output"] == {"n": 7}
    await here.keep("agent_prompted", prompted)


async def _reaching(here: Recorder, user: str) -> None:
    agent = here.agent("reaching", AGENT)
    for name, queue in (("goal", ""), ("goal_continued", here.rolling)):
        task = AgentTask(task_id=name, user_id=user, agent=agent, goal=f"{name}: count")
        handle = await _start(here, task, queue)
        latest = here.client.get_workflow_handle(handle.id)
        await _answer(latest, "yes", "turn[2].call[0]")
        assert (await latest.result())["output"] == "counted"
        await here.keep(f"agent_{name}", handle)
    stuck = await _start(here, AgentTask(task_id="stuck", user_id=user, agent=agent, goal="stuck"))
    await here.keep_failed("agent_goal_failed", stuck)


def script(asked: Asked) -> Says:
    """Answer the prompts, and take the turns of the goals, that are recorded."""
    if (ruled := ruled_runs.script(asked)) is not None:
        return ruled
    if asked.tools == frozenset({"answer"}):
        return Says(calls=(Call("answer", {"n": 7}),))
    if "You are in a conversation" in asked.instructions and "append" in asked.tools:
        writes = Call("append", {"ledger": "unanswered", "line": "x"})
        return Says(asked.outputs[-1]) if asked.outputs else Says(calls=(writes,))
    if "You are in a conversation" in asked.instructions:
        wants = Call("echo", {"value": asked.turns})
        return Says(f"Said: {asked.told[-1]}") if len(asked.outputs) >= len(asked.told) else Says(calls=(wants,))
    if "told: shout" in asked.first:
        line = {"ledger": "told", "line": "one"}
        calls = (Call("append", line), Call("shout", {"word": "a"}))
        return Says(f"shouted {asked.outputs[-1]}") if asked.outputs else Says(calls=calls)
    if "stuck" in asked.first:
        return Says(calls=(Call("nothing", {}),))
    if "- appended" not in asked.first and not asked.outputs:
        return Says("First.", (Call("echo", {"value": "x" * 6_000}), Call("ecko", {}), Call("garbles", {})))
    if "- appended" not in asked.first:
        line = {"ledger": "goals", "line": "one"}
        note = {"kind": "done", "text": "appended"}
        return Says(calls=(Call("append", line), Call("note", note), Call("remember", {"text": "Goals are counted."})))
    counted = [int(output) for output in asked.outputs if output.isdigit()]
    if counted and counted[-1] >= 3:
        return Says("counted")
    number = counted[-1] + 1 if counted else 0
    return Says(calls=(Call("echo", {"value": number}), Call("echo", {"value": "y" * 5_000})))


async def _start(here: Recorder, task: AgentTask, queue: str = "") -> WorkflowHandle[Any, Any]:
    return await here.start("ResumableAgent", task, id_=task.workflow_id, queue=queue)


async def _answer(handle: WorkflowHandle[Any, Any], value: str, identifier: str = "") -> None:
    # Before one, a tool fails five times, with 15 s of pauses.
    question = await question_of(handle, identifier, seconds=120)
    await handle.execute_update("answer", Answer(question_id=question.id, value=value, by="a person"))


async def _deliver(handle: WorkflowHandle[Any, Any], event: Event) -> None:
    """Deliver an event, again where Temporal throws away what was made of it as the run was continuing as new."""
    while True:
        try:
            await handle.execute_update("deliver", event)
        except RPCError as error:
            if error.status is not RPCStatusCode.FAILED_PRECONDITION:
                raise
        else:
            return
