"""A long task rolls its history over: no step is lost or run twice, and answers travel along."""

from pathlib import Path

import pytest
from temporalio.client import WorkflowUpdateFailedError

from perdure import Answer
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import question_of


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
