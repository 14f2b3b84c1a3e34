"""Nothing that a task carries along grows without bound, and nothing that it learned is dropped."""

import asyncio
import resource
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure.agent import skill_actions
from perdure.values.items import Item
from perdure.values.tasks import Phase, TaskResult
from tests.conftest import Servers
from tests.support.harness import Bench, bench
from tests.support.processes import processes
from tests.support.waiting import progress_of, until
from workflows import outbox, resumable_agent, rollover
from workflows.outbox import Outbox


def full_disk(agents: Bench, user: str) -> Path:
    """Make the journal of a user unwritable; removing what is returned makes room."""
    journal = agents.services.journal.folder / agents.services.tenant_key.tenant_of(user)
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_text("in the way")
    return journal


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


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("waits", [True, False], ids=["waits", "control"])
async def test_a_disk_that_is_full_for_a_minute_at_the_end_costs_no_memory(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    if not waits:
        monkeypatch.setattr(resumable_agent, "LAST_SUBMITS", timedelta(seconds=1))
    async with bench(servers, tmp_path) as agents:
        skill = agents.skill("steps: [{id: a, tool: who, remember: [{memory: The lead is Kim.}]}]")
        task = agents.task(skill)
        disk = full_disk(agents, task.user_id)
        handle = await agents.start(task)
        if not waits:
            result = await handle.result()
            disk.unlink()
            assert (result.status, result.refused) == ("completed", ("1 item: not accepted in time",))
            assert result.jobs == ()
            return
        await progress_of(handle, lambda one: one.phase is Phase.REMEMBERING)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(65):
                await handle.result()
        disk.unlink()
        result = await handle.result()
        assert (result.refused, len(result.jobs)) == ((), 1)


async def cancelled(handle: WorkflowHandle[Any, Any]) -> None:
    """Cancel a task, and wait until its workflow has taken that up."""
    await handle.cancel()

    async def taken_up() -> bool:
        kinds = [event.WhichOneof("attributes") or "" for event in (await handle.fetch_history()).events]
        if "workflow_execution_cancel_requested_event_attributes" not in kinds:
            return False
        behind = kinds[kinds.index("workflow_execution_cancel_requested_event_attributes") :]
        return "workflow_task_completed_event_attributes" in behind

    await until(taken_up, bool)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "control"])
async def test_a_critical_step_that_is_cancelled_while_the_disk_is_full_costs_no_memory(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    if not kept:

        async def alone(outbox: Any, items: tuple[Item, ...], _: tuple[str, ...]) -> None:
            outbox._update(buffer=items)
            for batch in outbox._batches():
                await outbox._submit(batch)

        monkeypatch.setattr(Outbox, "finish", alone)
    async with bench(servers, tmp_path) as agents:
        args = f"{{ledger: '{agents.ledger()}', line: x}}"
        learn = f"{{id: s, tool: append, args: {args}, critical: true, remember: [{{memory: The lead is Kim.}}]}}"
        task = agents.task(agents.skill(f"steps: [{learn}]"))
        disk = full_disk(agents, task.user_id)
        handle = await agents.start(task)
        await progress_of(handle, lambda one: one.phase is Phase.REMEMBERING)
        await cancelled(handle)
        disk.unlink()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        result = await handle.query("result", result_type=TaskResult)
        assert (result.status, result.refused, len(result.jobs)) == ("cancelled", (), int(kept))
        await agents.replay(handle)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "control"])
@pytest.mark.slow
async def test_a_task_that_is_cancelled_while_it_ends_ends_as_it_would_have(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    if not kept:

        def unshielded(task: asyncio.Task[Any]) -> asyncio.Task[Any]:
            return task

        monkeypatch.setattr(asyncio, "shield", unshielded)
    async with bench(servers, tmp_path) as agents:
        skill = agents.skill(
            """
steps:
  - {id: learn, tool: who, remember: [{memory: The lead is Kim.}]}
  - {id: fail, tool: echo, args: {value: 1}, expect: "${output == 2}"}
"""
        )
        task = agents.task(skill)
        disk = full_disk(agents, task.user_id)
        handle = await agents.start(task)
        await progress_of(handle, lambda one: one.phase is Phase.REMEMBERING)
        await cancelled(handle)
        disk.unlink()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        result = await handle.query("result", result_type=cast("type[TaskResult]", TaskResult | None))
        assert (result is not None) == kept
        if kept:
            assert (result.status, result.refused, len(result.jobs)) == ("failed", (), 1)
            assert "fail" in result.problem
        await agents.replay(handle)


LEARNING = """
steps:
  - for_each: "${[0, 1, 2]}"
    as: n
    steps:
      - id: learn
        tool: echo
        args: {value: "${n}"}
        remember: [{lane: pattern, key: "k${n}", payload: "${output}"}]
"""


@pytest.mark.slow
async def test_a_task_whose_worker_can_write_no_file_from_first_to_last_loses_nothing(
    servers: Servers, tmp_path: Path
) -> None:
    async with processes(servers, tmp_path) as (workers, agents):
        worker = await workers.start()
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        handle = await agents.start(agents.task(agents.skill(LEARNING)))

        async def failures() -> list[str]:
            pending = (await handle.describe()).raw_description.pending_activities
            return [activity.last_failure.message for activity in pending if activity.last_failure.message]

        [problem] = await until(failures, bool)
        assert "journal" in problem, "the control: it is the disk that it waits for"
        assert (await progress_of(handle, lambda one: one.phase is Phase.REMEMBERING)).done == 3
        assert [file for file in (tmp_path / "journal").rglob("*.jsonl") if file.stat().st_size] == []
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        result = await handle.result()
        assert (result.done, result.refused) == (3, ())
        receipts = [await agents.client.get_workflow_handle(job).result() for job in result.jobs]
        assert [item["fate"] for receipt in receipts for item in receipt["items"]] == ["searchable"] * 3
