"""A worker killed around an effect that a policy forbids by then: what happened is found out first."""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from perdure import Answer
from tests.conftest import Servers
from tests.support.guarding import Policies
from tests.support.processes import processes
from tests.support.waiting import question_of


def skill(tool: str, ledger: Path) -> str:
    return f"""
steps: [{{id: write, tool: {tool}, args: {{ledger: "{ledger}", line: "sent"}}}}]
output: "${{steps.write.output.line}}"
"""


def lines(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines() if ledger.exists() else []


@pytest.fixture
def policies(tmp_path: Path) -> Policies:
    found = Policies(tmp_path / "policies")
    found.clear()
    return found


def guarded(policies: Policies, *, first: bool = False) -> Mapping[str, Any]:
    return {"more": {"policies": [str(policies.folder)]}, "policies_first": int(first)}


@pytest.mark.parametrize("first", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["found out", "control"])
async def test_what_happened_before_a_policy_came_is_taken_up(
    servers: Servers, tmp_path: Path, policies: Policies, first: bool
) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start("tool.acted", **guarded(policies))
        handle = await bench.start(bench.task(bench.skill(skill("append", ledger))))
        assert await doomed.wait() == -signal.SIGKILL
        policies.write("no-sending", when="tool == 'append'")
        await workers.start(**guarded(policies, first=first))
        if first:
            with pytest.raises(WorkflowFailureError):
                await handle.result()
        else:
            assert (await handle.result()).output == "sent"
            await bench.replay(handle)
    assert lines(ledger) == ["sent"]


@pytest.mark.slow
async def test_what_did_not_happen_before_a_policy_came_does_not_happen(
    servers: Servers, tmp_path: Path, policies: Policies
) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start("tool.claimed", **guarded(policies))
        handle = await bench.start(bench.task(bench.skill(skill("append", ledger))))
        assert await doomed.wait() == -signal.SIGKILL
        policies.write("no-sending", when="tool == 'append'")
        await workers.start(**guarded(policies))
        with pytest.raises(WorkflowFailureError) as raised:
            await handle.result()
        failure = raised.value.cause
        assert isinstance(failure, ApplicationError)
        assert "PRD305" in failure.message
        # It is known that the effect did not happen, so nobody has to look.
        assert failure.details[0]["unknown"] == []
        await bench.replay(handle)
    assert lines(ledger) == []


@pytest.mark.slow
async def test_a_person_says_what_happened_before_a_policy_asks(
    servers: Servers, tmp_path: Path, policies: Policies
) -> None:
    ledger = tmp_path / "ledger"
    async with processes(servers, tmp_path) as (workers, bench):
        doomed = await workers.start("tool.claimed", **guarded(policies))
        handle = await bench.start(bench.task(bench.skill(skill("append_blindly", ledger))))
        assert await doomed.wait() == -signal.SIGKILL
        policies.write("ask-first", when="tool == 'append_blindly'", approve="May it be sent?")
        await workers.start(**guarded(policies))
        question = await question_of(handle, "write")
        assert question.choices == ("done", "not_done")
        await handle.execute_update("answer", Answer(question_id=question.id, value="not_done"))
        question = await question_of(handle, "write#2")
        assert question.text.startswith("May it be sent?")
        assert lines(ledger) == []
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
        # Nobody is asked once more what happened.
        assert (await handle.result()).output == "sent"
        await bench.replay(handle)
    assert lines(ledger) == ["sent"]
