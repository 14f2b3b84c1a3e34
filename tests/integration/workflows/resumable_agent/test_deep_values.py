"""Values that are nested deeply: carried as far as every parser on the way takes them, and refused in good order."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from temporalio.client import WorkflowFailureError

from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.support.harness import Bench, bench

pytestmark = pytest.mark.slow

CARRIED = """
steps:
  - {id: made, tool: nest, args: {levels: 128}}
  - for_each: "${[1, 2, 3, 4, 5, 6, 7, 8]}"
    as: one
    id: walk
    steps:
      - {id: said, tool: echo, args: {value: "${one}"}}
  - {id: read, tool: echo, args: {value: "${steps.made.output.size()}"}}
output: "${steps.read.output}"
"""


@pytest.fixture
async def agents(servers: Servers, tmp_path: Path) -> AsyncGenerator[Bench]:
    async with bench(servers, tmp_path, continue_after=20) as one:
        yield one


async def test_the_deepest_value_is_carried_through_rollovers(agents: Bench) -> None:
    handle = await agents.start(agents.task(agents.skill(CARRIED)))
    result = await agents.client.get_workflow_handle(handle.id, result_type=TaskResult).result()
    assert result.output == 1
    described = await agents.client.get_workflow_handle(handle.id).describe()
    assert described.run_id != handle.result_run_id, "it was rolled over"


async def test_the_deepest_result_of_an_effect_that_a_newer_build_stored_is_carried_through_rollovers(
    agents: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.tools.DEEPEST_VALUE", 160)
    made = f"append_and_nest, args: {{ledger: '{agents.ledger()}', line: x, levels: 160}}"
    handle = await agents.start(agents.task(agents.skill(CARRIED.replace("nest, args: {levels: 128}", made))))
    result = await agents.client.get_workflow_handle(handle.id, result_type=TaskResult).result()
    assert result.output == 1
    described = await agents.client.get_workflow_handle(handle.id).describe()
    assert described.run_id != handle.result_run_id, "it was rolled over"


@pytest.mark.parametrize("levels", [194, 197, 300])
async def test_a_deeper_result_fails_the_task_which_still_ends_as_tasks_do(agents: Bench, levels: int) -> None:
    handle = await agents.start(agents.task(agents.skill(CARRIED.replace("128", str(levels)))))
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert "at most 128 lists and mappings" in str(caught.value.cause)
    assert (await handle.query("result", result_type=TaskResult)).status == "failed"


@pytest.mark.parametrize("stored", [False, pytest.param(True)], ids=["refused", "stored by another build"])
async def test_a_deeper_result_of_an_effect_fails_each_run_and_does_not_repeat_it(
    agents: Bench, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    ledger = agents.ledger()
    args = f"{{ledger: '{ledger}', line: x, levels: 197}}"
    task = agents.task(agents.skill(f"steps:\n  - {{id: act, tool: append_and_nest, args: {args}}}\n"))
    if stored:
        monkeypatch.setattr("perdure.tools.DEEPEST_VALUE", 1_000)
    for _ in range(2):
        handle = await agents.start(task)
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
        assert "nested 197 deep" in str(caught.value.cause)
        assert (await handle.query("result", result_type=TaskResult)).status == "failed"
    assert ledger.read_text(encoding="utf-8").split() == ["x"]
