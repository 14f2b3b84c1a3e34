"""The time that a tool's call may take is that of the release in which its task was prepared."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import TimeoutType
from temporalio.client import WorkflowHandle

from perdure import Answer
from perdure.agent.steps import calls
from perdure.agent.steps.runner import StepRunner
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.tools import append_line, lines_in, take_time
from tests.support.waiting import question_of, until

PINNED, LONGER = 0.4, 60.0

SKILL = """
steps:
  - {{id: before, tool: echo, args: {{value: 1}}, approve: "Go on?"}}
  - {{id: act, tool: take_time, args: {{ledger: "{ledger}", seconds: 1.0}}}}
"""


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "control"])
@pytest.mark.slow
async def test_an_attempt_ends_in_time_although_a_release_gave_its_tool_more(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: bool
) -> None:
    """Temporal cuts an attempt off after the time that the task was prepared with, in which its call has to end."""
    over = asyncio.Event()

    async def until_over(ledger: str, seconds: float, fails: bool = False) -> str:
        append_line(ledger, "begun")
        await over.wait()
        return "ended"

    monkeypatch.setattr(take_time, "function", until_over)
    monkeypatch.setattr(take_time, "timeout", PINNED)
    if not pinned:
        perform = StepRunner._perform  # pyright: ignore[reportPrivateUsage]

        async def by_the_tool(self: StepRunner, wanted: Any, call: calls.StepCall, **how: Any) -> Any:
            return await perform(self, wanted, call.changed(timeout=None), **how)

        monkeypatch.setattr(StepRunner, "_perform", by_the_tool)
        # Otherwise each attempt would take ten seconds more.
        monkeypatch.setattr(calls, "MARGIN", 0.8)
    async with bench(servers, tmp_path) as agents:
        ledger = agents.ledger()
        handle = await agents.start(agents.task(agents.skill(SKILL.format(ledger=ledger))))
        await question_of(handle, "before")
        monkeypatch.setattr(take_time, "timeout", LONGER)
        await handle.execute_update("answer", Answer(question_id="before", value="yes"))
        if pinned:
            question = await question_of(handle, "act")
            assert f"it took longer than {PINNED:g} s" in question.text
        else:
            await until(lambda: cut_off(handle), lambda times: times >= 2)
            assert (await handle.query("progress"))["questions"] == [], "nobody is asked: no attempt has ended"
        assert lines_in(str(ledger)) == ["begun"]
        over.set()
        await handle.terminate()


async def cut_off(handle: WorkflowHandle[Any, Any]) -> int:
    """Return how often Temporal has cut off an attempt at the step that is under way."""
    pending = (await handle.describe()).raw_description.pending_activities
    too_long = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
    return max(
        (
            one.attempt - 1
            for one in pending
            if one.activity_type.name == "take_time" and one.last_failure.timeout_failure_info.timeout_type == too_long
        ),
        default=0,
    )
