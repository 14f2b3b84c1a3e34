"""Nothing that a task carries along grows without bound: it waits, or fails with the reason."""

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure.agent import skill_actions
from perdure.values.tasks import Phase
from tests.conftest import Servers
from tests.integration.workflows.resumable_agent.test_full_disk import full_disk
from tests.support.harness import bench
from tests.support.waiting import progress_of, until
from workflows import outbox, rollover


def flat(steps: int) -> str:
    """Return a skill of steps in one list, each with a result of 4 kB, all of which are read at the end."""
    lines = [f"  - {{id: s{number}, tool: big, args: {{size: 4000}}}}" for number in range(steps)]
    sizes = [f'  - "${{steps.s{number}.output.size()}}"' for number in range(steps)]
    return "\n".join(["steps:", *lines, "output:", *sizes])


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_flat_skill_of_two_thousand_steps_with_large_results_ends(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as agents:
        result = await agents.run(flat(2_000))
    assert result.done == 2_000
    assert isinstance(result.output, list)
    assert set(map(str, result.output)) == {"4000"}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("refused", [True, False], ids=["control: carried along", "control: and nobody counts them"])
async def test_a_third_of_these_results_are_more_than_a_rollover_takes(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    """So they are kept elsewhere; where they are not, the task fails with the reason, instead of standing still."""
    monkeypatch.setattr(skill_actions, "CARRIED_INLINE", 1_000_000_000)
    if not refused:
        monkeypatch.setattr(rollover, "CARRIED_LIMIT", 1_000_000_000)
    async with bench(servers, tmp_path) as agents:
        started = await agents.start(agents.task(agents.skill(flat(700))))
        if refused:
            with pytest.raises(WorkflowFailureError) as caught:
                await started.result()
            assert "bytes, and at most 1,800,000 can be carried on" in str(caught.value.cause)
        else:
            handle = agents.client.get_workflow_handle(started.id)
            problem, *_ = await until(lambda: refusals(handle), bool, 300)
            assert "payloads with size that exceeded the error limit" in problem, "it cannot go on, whoever tries"
            await handle.terminate()


async def refusals(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """Return why a task's last run could not do what it had decided."""
    failed = [one.workflow_task_failed_event_attributes for one in (await handle.fetch_history()).events]
    return [one.failure.message for one in failed if one.failure.message]


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("waits", [True, False], ids=["waits", "control"])
async def test_steps_wait_while_what_was_learned_cannot_be_accepted(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    if not waits:
        monkeypatch.setattr(outbox, "WAITING_LIMIT", 1_000_000_000)
    # A rollover comes after some 160 of them.
    steps = 80 if waits else 180
    async with bench(servers, tmp_path) as agents:
        skill = agents.skill(
            f"""
steps:
  - for_each: "${{{list(range(steps))}}}"
    as: n
    steps:
      - id: learn
        tool: big
        args: {{size: 15000}}
        remember: [{{lane: pattern, key: "k${{n}}", payload: "${{output}}"}}]
"""
        )
        task = agents.task(skill)
        disk = full_disk(agents, task.user_id)
        handle = await agents.start(task)
        # Some 64 results of 15 kB fill what may wait, which takes 10 s alone.
        progress = await progress_of(handle, lambda one: one.phase is Phase.REMEMBERING, seconds=300)
        disk.unlink()
        if not waits:
            with pytest.raises(WorkflowFailureError) as caught:
                await handle.result()
            assert "bytes, and at most 1,800,000 can be carried on" in str(caught.value.cause)
            return
        assert progress.done < 80
        result = await handle.result()
        assert (result.done, result.refused) == (80, ())
        receipts = [await agents.client.get_workflow_handle(job).result() for job in result.jobs]
        assert sum(len(receipt["items"]) for receipt in receipts) == 80
