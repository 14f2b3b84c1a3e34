"""What a skill asks of its inputs and of the tools is looked at before its first step."""

from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from perdure.values.tasks import Phase
from tests.support.harness import Bench

CHECKED = """
description: Writes a line, of which nobody needs to know.
when_to_use: A line is to be written.
inputs: {ledger: string, line: string, times: {type: integer, default: 1}}
requires: {tools: [dwell]}
checks:
  - {check: "${inputs.line != ''}", otherwise: there is nothing to write}
  - {check: "${inputs.times <= 3}", otherwise: it writes three times at most}
examples: [{inputs: {ledger: /tmp/a, line: an unusual example}}]
changelog: [{date: 2026-01-02, change: It began.}]
steps:
  - {id: write, tool: append, args: {ledger: "${inputs.ledger}", line: "${inputs.line}"}}
output: written
"""


async def refused(agents: Bench, text: str, **inputs: Any) -> str:
    with pytest.raises(WorkflowFailureError) as caught:
        await agents.run(text, inputs=inputs)
    return str(caught.value.cause)


async def test_a_check_that_does_not_hold_refuses_the_task_before_it_acts(agents: Bench) -> None:
    ledger = agents.ledger()
    problem = await refused(agents, CHECKED, ledger=str(ledger), line="a", times=4)
    assert "PRD101 checks[1]" in problem
    assert "it writes three times at most" in problem
    assert not ledger.exists()
    assert (await agents.run(CHECKED, inputs={"ledger": str(ledger), "line": "a", "times": 3})).output == "written"
    assert ledger.read_text().split() == ["a"]


async def test_a_required_tool_that_no_worker_has_refuses_the_task_before_it_acts(agents: Bench) -> None:
    ledger = agents.ledger()
    problem = await refused(agents, CHECKED.replace("[dwell]", "[dwel]"), ledger=str(ledger), line="a")
    assert ".yaml:6: requires.tools[0]: there is no tool 'dwel' (did you mean 'dwell'?)" in problem
    assert not ledger.exists()


@pytest.mark.slow
async def test_what_only_describes_a_skill_stays_out_of_the_history(agents: Bench) -> None:
    inputs = {"ledger": str(agents.ledger()), "line": "a"}
    handle = await agents.start(agents.task(agents.skill(CHECKED), inputs=inputs))
    assert (await handle.result()).status is Phase.COMPLETED
    payloads = [event.SerializeToString() for event in (await handle.fetch_history()).events]
    assert not any(b"an unusual example" in one or b"nobody needs to know" in one for one in payloads)
    await agents.replay(handle)
