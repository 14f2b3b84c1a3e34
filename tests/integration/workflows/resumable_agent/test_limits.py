"""No more calls of a tool are made than its limits allow, by however many tasks; each is made in the end."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from perdure import AgentTask, TaskResult
from perdure.agent.steps import limiter
from perdure.agent.steps.limiter import Admission, Limiter
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.tools import lines_in
from tests.support.waiting import until

CROWDED = """
steps:
  - for_each: "${[1, 2, 3, 4, 5, 6, 7, 8]}"
    as: n
    at_once: 8
    steps: [{id: a, tool: crowded, args: {ledger: LEDGER}}]
output: "${steps.n.done}"
"""

PACED = """
inputs: {name: string}
steps:
  - for_each: "${[1, 2, 3, 4, 5]}"
    as: n
    at_once: 5
    steps: [{id: a, tool: paced, args: {ledger: LEDGER, line: "${inputs.name} ${n}"}}]
output: "${steps.n.done}"
"""


def no_limit(*_: Any) -> nullcontext[Admission]:
    return nullcontext(Admission())


@pytest.mark.slow
@pytest.mark.parametrize("limited", [True, False], ids=["limited", "control"])
async def test_two_tasks_together_make_as_many_calls_at_once_as_the_tool_takes(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limited: bool
) -> None:
    if not limited:
        monkeypatch.setattr(Limiter, "within", no_limit)
    async with bench(servers, tmp_path) as agents:
        ledger = agents.ledger()
        skill = agents.skill(CROWDED.replace("LEDGER", str(ledger)))
        results = await asyncio.gather(*(ended(agents, agents.task(skill)) for _ in range(2)))
        assert [one.output for one in results] == [8, 8]
        lines, under_way, most = lines_in(str(ledger)), 0, 0
        for line in lines:
            under_way += 1 if line == "in" else -1
            most = max(most, under_way)
        # On a busy machine a call that reads may be made once more.
        assert lines.count("in") >= 16
        assert (most <= 2) is limited


@pytest.mark.slow
async def test_a_user_has_as_many_calls_a_minute_as_the_tool_takes_and_holds_up_nobody_else(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than this machine can take to get here.
    monkeypatch.setattr(limiter, "MINUTE", 3_600.0)
    async with bench(servers, tmp_path) as agents:
        ledger = agents.ledger()
        skill = agents.skill(PACED.replace("LEDGER", str(ledger)))
        handles = [await agents.start(agents.task(skill, inputs={"name": name})) for name in ("ada", "ben")]

        async def waiting() -> list[int]:
            found = [(await handle.describe()).raw_description.pending_activities for handle in handles]
            return [sum("PRD233" in one.last_failure.message for one in pending) for pending in found]

        async def called() -> list[str]:
            return sorted(line.split()[0] for line in lines_in(str(ledger)))

        await until(waiting, lambda found: found == [2, 2], seconds=60)
        # Those that are let through may still be on their way when the others already wait.
        await until(called, lambda names: len(names) >= 6, seconds=60)
        assert await waiting() == [2, 2]
        assert await called() == ["ada"] * 3 + ["ben"] * 3
        for handle in handles:
            await handle.terminate()


async def ended(agents: Bench, task: AgentTask) -> TaskResult:
    return await (await agents.start(task)).result()
