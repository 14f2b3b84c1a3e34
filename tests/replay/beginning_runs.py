"""The tasks that begin at a step whose histories are recorded: under the same id, and as forks."""

from uuid import uuid4

from perdure import Actor, ActorKind, AgentTask
from perdure.agent.state import TaskRun
from perdure.values.beginnings import ANY, BeginRequest
from tests.replay.recorder import Recorder

BEGUN = """
inputs: {good: boolean}
steps:
  - {id: large, tool: big, args: {size: 9000}}
  - id: act
    tool: append
    args: {ledger: begun, line: "${task.id}"}
    compensate: {tool: append, args: {ledger: begun, line: "not ${output.line}"}}
  - {id: then, tool: echo, args: {value: "${steps.large.output.size()}"}, expect: "${inputs.good}"}
output: "${steps.then.output} ${steps.act.output.line}"
"""


async def record_beginnings(here: Recorder) -> None:
    """Record a task that goes on at a step, a fork of it, and the end of one that undoes what was done before."""
    user = f"recorder-{uuid4().hex[:12]}"
    ada = Actor(kind=ActorKind.PERSON, id="ada")
    task = AgentTask(task_id="begun", user_id=user, skill=here.skill("begun", BEGUN), inputs={"good": True})
    first = await here.start("ResumableAgent", task, id_=task.workflow_id)
    await first.result()
    for name, of, good in (("forked", "begun", True), ("begun", "", True), ("begun", "", False)):
        one = AgentTask.model_validate({**task.model_dump(), "task_id": name, "inputs": {"good": good}})
        begin = BeginRequest(step="then", of=of, confirmed=ANY, by=ada)
        run = TaskRun.model_validate({**one.model_dump(), "begin": begin.model_dump()})
        if not of and good:
            checked = await here.start("CheckTask", run)
            assert (await checked.result())["differs"] == []
            await here.keep("check_begun", checked)
            await here.keep_failed("check_refused", await here.start("CheckTask", run.changed(skill="unknown")))
        handle = await here.start("ResumableAgent", run, id_=f"{name}-{uuid4().hex[:12]}")
        if good:
            assert (await handle.result())["output"] == "9000 begun"
            await here.keep(f"agent_{name}", handle)
        else:
            await here.keep_failed("agent_begun_undone", handle)
