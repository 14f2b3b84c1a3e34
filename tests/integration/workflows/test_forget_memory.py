"""Sweeps on the real servers: each ends, one at a time, starves nobody, and is undone by its id."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowHandle

from activities.forgetting import ForgettingActivities
from perdure.crashpoints import CrashPoint
from perdure.errors import StoreUnavailable
from perdure.memory import door
from perdure.memory.forgetting import forgetter
from perdure.memory.forgetting.forgetter import Forgetter, Tombstoned
from perdure.memory.forgetting.selection import Forgetting
from perdure.memory.retention import RetentionRules
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.accesses import Accesses
from perdure.stores.redis.connection import connect
from perdure.stores.redis.due import DueIndex
from perdure.temporal import failures
from perdure.values.changes import Actor
from perdure.values.entries import Entry, State
from perdure.values.requests import ForgetResult, SweepReport
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.broken_entries import break_entry
from tests.support.waiting import until
from workflows import options
from workflows.forget_memory import ForgetRun

LONG_AGO = datetime(1998, 1, 1, tzinfo=UTC)
"""No other user of the same servers has anything due as early as this."""


def note(number: int, **more: JsonValue) -> dict[str, JsonValue]:
    return {
        "kind": "memory",
        "content": f"Room {number} has {number} windows.",
        "occurrence": f"o{number}",
        "occurred_at": LONG_AGO.isoformat(),
        "valid_until": LONG_AGO.isoformat(),
        **more,
    }


async def write(here: Deployment, tenant: str, *items: JsonValue, operation: str = "setup") -> list[str]:
    batch = read_batch(tenant=tenant, key=operation, items=items)
    plan = await here.services.writer.plan(batch, at=LONG_AGO)
    await here.services.writer.apply(batch, plan, operation=operation)
    return [item.target for item in plan.items]


async def swept(here: Deployment, **request: Any) -> WorkflowHandle[Any, ForgetResult]:
    return await here.client.start_workflow(
        "ForgetMemory",
        ForgetRun(at=LONG_AGO + timedelta(days=1), **request),
        id=f"sweep-{uuid4().hex}",
        task_queue=here.queue,
        result_type=ForgetResult,
    )


async def undone(here: Deployment, run: str) -> int:
    result = await here.client.execute_workflow(
        "UndoForgetting", {"sweep": run}, id=uuid4().hex, task_queue=here.queue, result_type=dict[str, Any]
    )
    return result["restored"]


async def last_failure(sweep: WorkflowHandle[Any, Any]) -> str:
    pending = (await sweep.describe()).raw_description.pending_activities
    return "; ".join(f"{one.activity_type.name} {one.attempt}: {one.last_failure.message}" for one in pending)


@pytest.fixture
async def two(servers: Servers) -> AsyncGenerator[tuple[str, str]]:
    """Two tenants, of which a sweep takes the first one first; nothing of them stays due for the sweeps of others."""
    tenants = f"t_0{uuid4().hex}", f"t_1{uuid4().hex}"
    yield tenants
    redis = connect(servers.redis_url)
    for tenant in tenants:
        await DueIndex(redis).set(tenant, None)
    await redis.aclose()


async def test_what_is_used_does_not_die_of_age_while_the_schedule_that_writes_uses_is_paused(
    servers: Servers, tmp_path: Path, two: tuple[str, str]
) -> None:
    async with deployment(servers, tmp_path) as here:
        tenant, _ = two
        old: dict[str, JsonValue] = {"occurred_at": "1990-01-01T00:00:00Z", "valid_until": None}
        used, unused = await write(here, tenant, note(1, **old), note(2, **old))
        await Accesses(here.services.redis).add(tenant, [used], LONG_AGO)
        await (await swept(here)).result()
        found = await here.services.longterm.get(tenant, [used, unused])
        assert (found[used].state, found[used].access_count) == (State.CURRENT, 1)
        assert found[unused].state is State.FORGOTTEN


@pytest.mark.parametrize("protected", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["bounded", "control"])
async def test_a_tenant_that_fails_does_not_starve_those_after_it(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two: tuple[str, str], protected: bool
) -> None:
    monkeypatch.setattr(failures, "_LONGEST_PAUSE", 0.01)
    if not protected:
        monkeypatch.setattr(options, "SWEEP_ATTEMPTS", 0)
    async with deployment(servers, tmp_path) as here:
        broken, whole = two
        for tenant in two:
            await write(here, tenant, note(1))
        [entry] = await here.services.longterm.due(broken, before=LONG_AGO, limit=1)
        await break_entry(here.services, broken, entry)
        sweep = await swept(here)
        if protected:
            report = (await sweep.result()).report
            assert [line.partition(":")[0] for line in report.failed] == [broken]
            assert "PRD237" in report.failed[0]
            assert (report.tenants, report.forgotten) == (1, 1)
            assert await here.services.longterm.count(whole) == 0
            assert await here.services.due.next(broken) == LONG_AGO, "the next sweep tries again"
        else:
            await until(lambda: last_failure(sweep), lambda told: "select_forgetting 9" in told)
            assert await here.services.longterm.count(whole) == 1
            await sweep.terminate()


@pytest.mark.parametrize("protected", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["bounded", "control"])
async def test_a_tenant_that_changes_all_the_time_does_not_starve_those_after_it(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two: tuple[str, str], protected: bool
) -> None:
    if not protected:
        monkeypatch.setattr(options, "IDLE_PLANS", 1_000_000)
    tombstone, passes = Forgetter.tombstone, 0
    async with deployment(servers, tmp_path) as here:
        busy, quiet = two
        for tenant in two:
            await write(here, tenant, note(1))

        async def overtaken(self: Forgetter, forgetting: Forgetting, *, sweep: str, by: Actor) -> Tombstoned:
            nonlocal passes
            if forgetting.tenant == busy:
                passes += 1
                await write(here, busy, note(1, occurrence=f"again {passes}"), operation=f"job {passes}")
            return await tombstone(self, forgetting, sweep=sweep, by=by)

        monkeypatch.setattr(Forgetter, "tombstone", overtaken)
        sweep = await swept(here, continue_after=30)
        if protected:
            report = (await sweep.result()).report
            assert report.failed == (f"{busy}: it changes all the time",)
            assert report.forgotten == 1
        else:

            async def passed() -> int:
                return passes

            await until(passed, lambda number: number > 2 * 5)
            await here.client.get_workflow_handle(sweep.id).terminate()
        assert await here.services.longterm.count(quiet) == (0 if protected else 1)


@pytest.mark.parametrize("protected", [True, False], ids=["one at a time", "control"])
@pytest.mark.slow
async def test_what_each_of_two_sweeps_says_that_it_forgot_is_undone_by_its_id(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    """The first one fails between its writes; the second one is started before the first tries again."""
    failed, second_ended = asyncio.Event(), asyncio.Event()
    tombstone = Forgetter.tombstone

    def fail_once(point: CrashPoint) -> None:
        if point is CrashPoint.APPLY_HALF_WRITTEN and not failed.is_set():
            failed.set()
            raise StoreUnavailable("weaviate", "it went away in the middle")

    async def held_up(self: Forgetter, forgetting: Forgetting, *, sweep: str, by: Actor) -> Tombstoned:
        if not protected and failed.is_set() and len(forgetting.tombstone) == 60:
            await second_ended.wait()
        return await tombstone(self, forgetting, sweep=sweep, by=by)

    monkeypatch.setattr(Forgetter, "tombstone", held_up)
    if not protected:

        async def nobody(self: ForgettingActivities, workflow: str) -> bool:
            return False

        monkeypatch.setattr(ForgettingActivities, "_runs", nobody)
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path) as here:
        tenant = here.services.tenant_key.tenant_of(user)
        await write(here, tenant, *(note(number) for number in range(60)))
        monkeypatch.setattr(door, "reached", fail_once)
        first = await swept(here, user_id=user, approved=True)
        await failed.wait()
        second = await swept(here, user_id=user, approved=True)
        if protected:
            await until(lambda: last_failure(second), lambda told: f"the sweep {first.id} is still running" in told)
        else:
            await second.result()
            second_ended.set()
        ended = [await first.result(), await second.result()]
        forgotten = {result.sweep: result.report.forgotten for result in ended if result.report.forgotten}
        assert sum(forgotten.values()) == (60 if protected else 10), "the control: the first says that it forgot none"
        restored = {result.sweep: await undone(here, result.sweep) for result in ended if result.sweep in forgotten}
        assert restored == forgotten
        assert await here.services.longterm.count(tenant) == sum(forgotten.values())


async def test_a_sweep_that_was_reset_keeps_the_id_by_which_it_is_undone(servers: Servers, tmp_path: Path) -> None:
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path) as here:
        tenant = here.services.tenant_key.tenant_of(user)
        await write(here, tenant, note(1))
        sweep = await swept(here, user_id=user)
        first = await sweep.result()
        history = await sweep.fetch_history()
        decided = [
            event.event_id
            for event in history.events
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
        ]
        reset = await here.client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=here.client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=sweep.id, run_id=sweep.first_execution_run_id or ""),
                reason="the last step is done again",
                workflow_task_finish_event_id=decided[-1],
                request_id=uuid4().hex,
            )
        )
        again = await here.client.get_workflow_handle(sweep.id, run_id=reset.run_id, result_type=ForgetResult).result()
        assert (again.sweep, again.report) == (first.sweep, first.report)
        assert again.sweep != reset.run_id, "the control: the run itself is another one"
        assert await undone(here, again.sweep) == 1


@pytest.mark.parametrize("protected", [True, False], ids=["dated anew", "control: only what is current is dated"])
@pytest.mark.slow
async def test_what_was_undone_is_due_no_more(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    """Also a memory that was replaced, of which a sweep takes only so many at once: otherwise no sweep would end."""
    monkeypatch.setattr(forgetter, "MOST_AT_ONCE", 2)
    if not protected:
        dated = RetentionRules.dated

        def of_current(self: RetentionRules, entry: Entry) -> Entry:
            return dated(self, entry) if entry.state is State.CURRENT else entry

        monkeypatch.setattr(RetentionRules, "dated", of_current)
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path) as here:
        tenant = here.services.tenant_key.tenant_of(user)
        old = await write(here, tenant, *(note(number) for number in range(5)))
        heirs = [
            note(number, content=f"Room {number} is gone.", occurrence=f"gone {number}", supersedes=one)
            | {"valid_until": None}
            for number, one in enumerate(old)
        ]
        await write(here, tenant, *heirs, operation="heirs")
        result = await (await swept(here, user_id=user, approved=True)).result()
        assert result.report.forgotten == 5
        assert await undone(here, result.sweep) == 5
        stored = await here.services.longterm.get(tenant, old)
        due = None if protected else LONG_AGO
        assert {(entry.state, entry.forget_after) for entry in stored.values()} == {(State.SUPERSEDED, due)}
        again = await swept(here, user_id=user, approved=True)
        if protected:
            assert (await again.result()).report == SweepReport(tenants=1)
            assert await here.services.longterm.get(tenant, old) == stored, "nor is it written again"
        else:
            await until(lambda: plans(again), lambda number: number > 5)
            await again.terminate()


async def plans(sweep: WorkflowHandle[Any, Any]) -> int:
    """Return how many plans a sweep has made."""
    kinds = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in (await sweep.fetch_history()).events
    ]
    return kinds.count("select_forgetting")
