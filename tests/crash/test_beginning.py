"""A worker killed once a task's id is bound to where it begins: it begins there, and nothing before acts again."""

import signal
from pathlib import Path

import pytest

from perdure import Actor, ActorKind
from perdure.agent.state import TaskRun
from perdure.errors import TaskFailed
from perdure.temporal.errors import translated
from perdure.values.beginnings import ANY, BeginRequest
from tests.conftest import Servers
from tests.support.processes import processes
from tests.support.tools import lines_in

ADA = Actor(kind=ActorKind.PERSON, id="ada")

SKILL = """
inputs: {ledger: string, good: boolean}
steps:
  - {id: first, tool: append, args: {ledger: "${inputs.ledger}", line: first}}
  - {id: second, tool: append, args: {ledger: "${inputs.ledger}", line: second}, expect: "${inputs.good}"}
output: "${steps.first.output.line}"
"""


@pytest.mark.parametrize("forked", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["forked", "gone on"])
async def test_a_worker_killed_once_the_id_is_bound_has_the_task_begin_at_its_step(
    servers: Servers, tmp_path: Path, forked: bool
) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start("task.bound")
        task = bench.task(bench.skill(SKILL), inputs={"ledger": str(ledger), "good": False})
        failed = await bench.start(task)
        with pytest.raises(TaskFailed):
            await translated(failed.result)()
        good = {**task.model_dump(), "inputs": {**task.inputs, "good": True}}
        good |= {"task_id": "fork"} if forked else {}
        begin = BeginRequest(step="second", of=task.task_id if forked else "", confirmed=ANY, by=ADA)
        run = TaskRun.model_validate({**good, "begin": begin.model_dump()})
        handle = await bench.start(run)
        assert await doomed.wait() == -signal.SIGKILL
        await workers.start()
        result = await handle.result()
        assert result.output == "first"
        # What was confirmed is known, whichever attempt bound it.
        assert ("differs in inputs.good" in result.interventions[0].what) != forked
        assert lines_in(str(ledger)) == ["first", "second"] + ["second"] * forked
        await bench.replay(handle)
