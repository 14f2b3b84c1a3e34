"""A long task rolls its history over: no step is lost or run twice, and answers and memos travel along."""

from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowUpdateFailedError

from perdure import Answer
from perdure.names import TASK
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import question_of


@pytest.mark.slow
@pytest.mark.parametrize("cache", [pytest.param(1000, marks=pytest.mark.slow), 0])
async def test_a_history_that_is_rolled_over_often(servers: Servers, tmp_path: Path, cache: int) -> None:
    ledger = tmp_path / "ledger"
    async with bench(servers, tmp_path, continue_after=40, max_cached_workflows=cache) as agents:
        skill = agents.skill(
            f"""
inputs: {{text: string}}
steps:
  - {{id: large, tool: big, args: {{size: 9000}}}}
  - id: first
    tool: look
    args: {{name: x, known: false}}
    expect: "${{false}}"
    ask: Which?
  - for_each: "${{[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}}"
    as: n
    steps:
      - id: write
        tool: append
        args: {{ledger: "{ledger}", line: "${{n}} ${{steps.first.answer}} ${{inputs.text.size()}}"}}
        remember: [{{lane: pattern, key: "k${{n}}", payload: "${{n}}"}}]
  - {{id: last, tool: echo, args: {{value: 1}}, approve: "Go on?"}}
output: "${{steps.large.output.size() + steps.n.count}}"
"""
        )
        handle = await agents.start(agents.task(skill, inputs={"text": "x" * 5000}))
        first = handle.first_execution_run_id

        open_handle = agents.client.get_workflow_handle(handle.id)
        await question_of(open_handle, "first")
        await open_handle.execute_update("answer", Answer(question_id="first", value="this"), id="the-same")
        await question_of(open_handle, "last")
        assert (await open_handle.describe()).run_id != first
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await open_handle.execute_update("answer", Answer(question_id="first", value="that"), id="the-same")
        assert "answered already" in str(caught.value.cause)
        await open_handle.execute_update("answer", Answer(question_id="last", value="yes"))
        result = await open_handle.result()
        assert result["output"] == 9020
        assert result["done"] == 23
        assert len(result["jobs"]) == 1
    assert ledger.read_text().splitlines() == [f"{number} this 5000" for number in range(1, 21)]


@pytest.mark.slow
async def test_a_memo_that_others_have_written_is_carried_on_unread(servers: Servers, tmp_path: Path) -> None:
    foreign = Payload(metadata={"encoding": b"binary/foreign"}, data=b"\xff")
    async with bench(servers, tmp_path, continue_after=20) as agents:
        echoes = "{id: echo, tool: echo, args: {value: 1}}"
        task = agents.task(agents.skill(f'steps: [{{for_each: "${{[1,2,3,4,5,6,7,8]}}", as: n, steps: [{echoes}]}}]'))
        handle = await agents.client.start_workflow(
            "ResumableAgent", task, id=task.workflow_id, task_queue=agents.queue, memo={"theirs": foreign}
        )
        latest = agents.client.get_workflow_handle(handle.id)
        assert (await latest.result())["done"] == 8
        found = await latest.describe()
        assert found.run_id != handle.first_execution_run_id
        assert found.raw_description.workflow_execution_info.memo.fields["theirs"] == foreign
        assert await found.memo_value(TASK) == task.task_id, "its own travel as well"
