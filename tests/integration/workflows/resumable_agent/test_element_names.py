"""The names of list elements: for people in the current details; never in ids, and in summaries by a setting alone."""

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHandle

from perdure.values.tasks import Progress
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_questions_to_people import answer
from tests.support.harness import bench
from tests.support.waiting import question_of

pytestmark = pytest.mark.slow

SHOPS = """
inputs: {shops: list}
steps:
  - for_each: "${inputs.shops}"
    as: shop
    steps:
      - {id: look, tool: echo, args: {value: "${shop.name}"}}
      - {id: ask, tool: echo_quickly, args: {value: 1}, approve: "Go on?"}
      - {id: pause, wait: 1s}
      - {id: never, tool: echo, args: {value: 1}, when: "${1 == 2}"}
output: "${steps.shop.done}"
"""


async def summaries(handle: WorkflowHandle[Any, Any]) -> str:
    """Return the summaries of a run's activities and timers."""
    return " | ".join([event.user_metadata.summary.data.decode() async for event in handle.fetch_history_events()])


@pytest.mark.parametrize("is_named", [False, True])
async def test_elements_are_named_to_people_and_not_in_ids(servers: Servers, tmp_path: Path, is_named: bool) -> None:
    async with bench(servers, tmp_path, more={"summary_content": is_named}) as agents:
        task = agents.task(agents.skill(SHOPS), inputs={"shops": [{"name": "North"}]})
        handle = await agents.start(task)
        question = await question_of(handle)
        progress = await handle.query("progress", result_type=Progress)
        assert (question.id, progress.step, progress.shown) == ("shop[0].ask", "shop[0].ask", "shop[North].ask")
        assert "Now at `shop[North].ask`" in str(await handle.query("__temporal_workflow_metadata"))
        await answer(handle, question.id, "yes")
        result = await handle.result()
        assert result.output == 3
        assert [(one.step, one.shown) for one in result.incomplete] == [("shop[0].never", "shop[North].never")]
        await agents.replay(handle)
        said = await summaries(handle)
    assert ("North" in said) == is_named
    place = "shop[North]" if is_named else "shop[0]"
    for expected in (f'"{place}.look"', f"{place}.ask: whether echo_quickly is called", f"{place}.pause waits"):
        assert expected in said
