"""The recorded runs with activities and workflows of others, and with agents that are told something meanwhile."""

from typing import Any

from perdure import Actor, ActorKind, AgentTask, Answer, Redirection, TaskFeedback, TaskMessage
from perdure.names import ANSWER, FEEDBACK, MESSAGE, REDIRECT
from tests.replay.recorder import Recorder
from tests.support.strangers import strangers
from tests.support.waiting import question_of, until
from worker.gateway.updates import sent_update

ADA = Actor(kind=ActorKind.PERSON, id="ada")

QUEUE = "strangers"

CALLING = """
steps:
  - parallel:
      - {id: call, workflow: Ship, queue: strangers, args: [shipped, wood, true]}
      - - {id: charge, activity: Charge, queue: strangers, args: [shipped, {cents: 7}]}
        - for_each: "${[1, 2, 3, 4, 5, 6, 7, 8]}"
          as: n
          steps: [{id: count, tool: echo, args: {value: "${n}"}}]
  - {id: look, activity: ChargeBadly, queue: strangers, args: [charged-NAME], when: "${steps.n.done == 8}"}
output: "${steps.call.output.shipped}"
"""

SHOUT = """
inputs: {word: string}
steps: [{id: shout, tool: echo, args: {value: "${inputs.word}!"}}]
output: "${steps.shout.output}"
"""

TOLD = """
instructions: Count.
model: openai:test
tools: [echo, append]
approve: [append]
skills: [shout]
"""


async def record_foreign(here: Recorder) -> None:
    """Record them all."""
    async with strangers(here.addresses.temporal, QUEUE):
        for name, queue in (("called", ""), ("called_continued", here.rolling)):
            await _called(here, name, queue)
    await _told(here)


async def _called(here: Recorder, name: str, queue: str) -> None:
    task = AgentTask(task_id=name, user_id="strange", skill=here.skill(name, CALLING.replace("NAME", name)))
    handle = await here.start("ResumableAgent", task, id_=task.workflow_id, queue=queue)
    latest = here.client.get_workflow_handle(handle.id)
    ids = f"WorkflowType = 'Ship' AND ParentWorkflowId = '{handle.id}'"

    async def children() -> list[str]:
        return [one.id async for one in here.client.list_workflows(ids)]

    [child] = await until(children, bool)
    if queue:
        await until(lambda: _rolled(latest, str(handle.first_execution_run_id)), bool, seconds=60)
    await here.client.get_workflow_handle(child).signal("go")
    question = await question_of(latest, "look", seconds=60)
    await sent_update(latest, ANSWER, Answer(question_id=question.id, value="done", by="ada"))
    assert (await latest.result())["output"] == "wood"
    await here.keep(f"agent_{name}", handle)


async def _rolled(handle: Any, first: str) -> bool:
    return (await handle.describe()).run_id != first


async def _told(here: Recorder) -> None:
    here.skill("shout", SHOUT)
    task = AgentTask(task_id="told", user_id="strange", agent=here.agent("hearing", TOLD), goal="told: shout")
    handle = await here.start("ResumableAgent", task, id_=task.workflow_id)
    question = await question_of(handle, "turn[1].call[0]", seconds=60)
    await sent_update(handle, MESSAGE, TaskMessage(text="Speak up.", by=ADA))
    await sent_update(handle, REDIRECT, Redirection(constraints=("Stay polite.",), by=ADA))
    await sent_update(handle, FEEDBACK, TaskFeedback(passed=True, by=ADA))
    await sent_update(handle, ANSWER, Answer(question_id=question.id, value="yes", by="ada"))
    assert (await handle.result())["output"] == "shouted a!"
    await here.keep("agent_told", handle)
