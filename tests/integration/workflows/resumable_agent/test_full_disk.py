"""A disk that is full holds a task up where it has learned something, and costs no memory."""

import asyncio
import resource
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle

from perdure.stores.tenant_key import TenantKey
from perdure.values.items import Item
from perdure.values.tasks import Phase, TaskResult
from tests.conftest import TENANT_KEY, Servers, journal_of
from tests.support.harness import Bench, bench
from tests.support.processes import processes
from tests.support.waiting import progress_of, until
from workflows import resumable_agent
from workflows.outbox import Outbox


def full_disk(agents: Bench, user: str) -> Path:
    """Make the journal of a user unwritable; removing what is returned makes room."""
    journal = agents.services.journal.folder / agents.services.tenant_key.tenant_of(user)
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_text("in the way")
    return journal


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


@pytest.mark.slow
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
        task = agents.task(agents.skill(LEARNING))
        handle = await agents.start(task)
        lines = journal_of(servers, tmp_path) / TenantKey(TENANT_KEY).tenant_of(task.user_id)

        async def failures() -> list[str]:
            pending = (await handle.describe()).raw_description.pending_activities
            return [activity.last_failure.message for activity in pending if activity.last_failure.message]

        # The control: it is the disk that it waits for.
        await until(failures, lambda found: any("journal" in one for one in found))
        assert (await progress_of(handle, lambda one: one.phase is Phase.REMEMBERING)).done == 3
        assert [file for file in lines.glob("*.jsonl") if file.stat().st_size] == []
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        result = await handle.result()
        assert (result.done, result.refused) == (3, ())
        receipts = [await agents.client.get_workflow_handle(job).result() for job in result.jobs]
        assert [item["fate"] for receipt in receipts for item in receipt["items"]] == ["searchable"] * 3
        assert [file for file in lines.glob("*.jsonl") if file.stat().st_size], "the control: these are the files"
