"""The recorded tasks that others have a say in: policies, the time that they may take, a judge, a wrong memory."""

import asyncio
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from perdure import AgentTask, Answer, RememberRequest
from perdure.names import ANSWER
from perdure.values.task_limits import Limits
from tests.replay.recorder import Recorder
from tests.support.guarding import Policies
from tests.support.turn_server import Asked, Call, Says
from tests.support.waiting import question_of
from worker.gateway.updates import sent_update

WRITING = """
inputs: {ledger: string}
steps:
  - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: x}, on_failure: continue}
  - {id: quickly, tool: append_quickly, args: {ledger: "${inputs.ledger}", line: x}}
output: "${[steps.write.status, steps.quickly.status]}"
"""

LASTING = """
steps:
  - id: write
    tool: append
    args: {ledger: lasting, line: x}
    compensate: {tool: append, args: {ledger: lasting, line: not x}}
  - {id: rest, wait: 1d}
"""

JUDGED = """
steps: [{id: say, tool: echo, args: {value: tides}}]
output: "${steps.say.output}"
expect: "${output != ''}"
judge: {criterion: "It is a word.", model: openai:test}
"""

AGENT = """
instructions: Be brief.
model: openai:test
tools: [echo]
judge: {criterion: "It is an answer.", model: openai:test}
"""

WRONG, RIGHT = "The standup is at 9.", "The standup is at 10."
HEDGED = "The standup might be at 10."
MEMORY = re.compile(r"; (mem_[0-9a-f]+)\)")
"""The id of a memory as a model is shown it."""


def write_policies(folder: Path) -> None:
    """Write the policies that bind all that is recorded, and speak of the tasks here alone."""
    policies = Policies(folder)
    policies.write("forbids", when="tool.startsWith('append') && arguments.ledger == 'forbidden'")
    policies.write("asks", when="tool.startsWith('append') && arguments.ledger == 'asked'", approve="Write it?")


async def record_ruled(here: Recorder) -> None:
    """Record them all."""
    user = f"recorder-{uuid4().hex[:12]}"
    async with asyncio.TaskGroup() as group:
        for runs in (_guarded, _out_of_time, _judged, _correcting):
            group.create_task(runs(here, user))


async def _guarded(here: Recorder, user: str) -> None:
    """Policies stop calls, and have people asked: of activities, and of what runs inside the worker."""
    skill = here.skill("writing", WRITING)
    blocked = AgentTask(task_id="blocked", user_id=user, skill=skill, inputs={"ledger": "forbidden"})
    await here.keep_failed("agent_blocked", await _start(here, blocked))
    for answer, status in (("yes", "done"), ("no", "skipped")):
        task = AgentTask(task_id=f"permitted-{answer}", user_id=user, skill=skill, inputs={"ledger": "asked"})
        handle = await _start(here, task)
        for step in ("write", "quickly"):
            question = await question_of(handle, step)
            await sent_update(handle, ANSWER, Answer(question_id=question.id, value=answer, by="ada"))
        assert (await handle.result())["output"] == [status, status]
        await here.keep(f"agent_permitted_{answer}", handle)


async def _out_of_time(here: Recorder, user: str) -> None:
    limits = Limits(hours=3 / 3_600)
    task = AgentTask(task_id="lasting", user_id=user, skill=here.skill("lasting", LASTING), limits=limits)
    await here.keep_failed("agent_out_of_time", await _start(here, task))


async def _judged(here: Recorder, user: str) -> None:
    """A model judges what a task gave back, unless the task has used all the tokens that it may."""
    skill, agent = here.skill("judged", JUDGED), here.agent("judging", AGENT)
    of_goal = {"user_id": user, "agent": agent, "goal": "judged: say something"}
    for task, passed in (
        (AgentTask(task_id="judged", user_id=user, skill=skill), True),
        (AgentTask.model_validate(of_goal | {"task_id": "judged_not", "limits": {"tokens": 1}}), False),
    ):
        handle = await _start(here, task)
        assert (await handle.result())["evaluation"]["judgements"][-1]["passed"] is passed
        await here.keep(f"agent_{task.task_id}", handle)


async def _correcting(here: Recorder, user: str) -> None:
    """A model corrects a memory that it is shown, and is told what memory refuses."""
    # Of a user who has nothing else to be recalled.
    user = f"{user}-standup"
    item: dict[str, JsonValue] = {"kind": "memory", "content": WRONG, "source": "learned", "occurrence": "o"}
    remembering = await here.start("RememberItems", RememberRequest(user_id=user, key="standup", items=(item,)))
    await here.client.get_workflow_handle(await remembering.result()).result()
    agent = here.agent("correcting", "instructions: Be brief.\nmodel: openai:test\ntools: [echo]\n")
    goal = "corrects: when is the standup?"
    handle = await _start(here, AgentTask(task_id="correcting", user_id=user, agent=agent, goal=goal))
    refused, corrected = (await handle.result())["output"].split(" | ")
    assert ("hedged" in refused, corrected.startswith("corrected")) == (True, True)
    await here.keep("agent_correcting", handle)


def script(asked: Asked) -> Says | None:
    """Judge, and take the turns of the goals, that are recorded here; None: it is none of them."""
    if asked.instructions.startswith("You judge"):
        return Says(calls=(Call("answer", {"passed": True, "reason": "It is one."}),))
    if "judged: " in asked.first:
        return Says("tides")
    if "corrects: " not in asked.first:
        return None
    if asked.outputs:
        return Says(" | ".join(asked.outputs))
    [wrong] = MEMORY.findall(asked.first)
    return Says(calls=(Call("remember", {"text": HEDGED}), Call("correct", {"id": wrong, "text": RIGHT})))


async def _start(here: Recorder, task: AgentTask) -> WorkflowHandle[Any, Any]:
    return await here.start("ResumableAgent", task, id_=task.workflow_id)
