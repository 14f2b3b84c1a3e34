"""A worker killed at every commit point of a job: the job ends, and nothing is lost, doubled or stuck."""

import signal
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from activities.jobs import job_id
from localservers.processes import Child
from perdure.memory import comparison
from perdure.memory.audit.reader import shown, verified
from perdure.memory.door import Door
from perdure.memory.writing import observation
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.audit.chain import LABEL
from perdure.stores.audit.files import FOLDER
from perdure.stores.journal.folded_state import fold
from perdure.stores.journal.log import Journal
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.changes import Change
from perdure.values.entries import Entry
from perdure.values.items import Item
from perdure.values.jobs import Batch, Fate, Receipt, SubmitCall
from perdure.values.requests import ForgetResult
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from tests.support.processes import start_mortal
from workflows.forget_memory import ForgetRun

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

ENDED_WITHIN = 30.0
"""Seconds from a worker's start to the end of the job that its predecessor was killed in: 18 beside a type checker on a
slow machine (measured). Without heartbeats it would be a minute."""


def batch_of(tenant: str, number: int) -> Batch:
    items: list[JsonValue] = [
        {
            "kind": "record",
            "lane": "pattern",
            "key": f"k{index}",
            "payload": index,
            "occurrence": f"o{index}",
            "occurred_at": LONG_AGO.isoformat(),
            "valid_until": LONG_AGO.isoformat(),
        }
        for index in range(number)
    ]
    return read_batch(tenant=tenant, key="k", items=items)


async def start(here: Deployment, servers: Servers, crash_at: str = "") -> Child:
    log = here.settings.home / "worker.log"
    return await start_mortal(here.settings.changed(task_queue=here.queue), servers, log, crash_at=crash_at)


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("submit.journaled", marks=pytest.mark.slow),
        "submit.started",
        pytest.param("plan.decided", marks=pytest.mark.slow),
        pytest.param("apply.leased", marks=pytest.mark.slow),
        pytest.param("change.journaled", marks=pytest.mark.slow),
        pytest.param("apply.half_written", marks=pytest.mark.slow),
        pytest.param("apply.written", marks=pytest.mark.slow),
        pytest.param("change.audited", marks=pytest.mark.slow),
        pytest.param("confirm.read", marks=pytest.mark.slow),
    ],
)
async def test_a_worker_killed_in_a_job(servers: Servers, tmp_path: Path, tenant: str, point: str) -> None:
    batch = batch_of(tenant, 60)
    async with deployment(servers, tmp_path, serving=False) as here:
        doomed = await start(here, servers, point)
        handle = await here.client.start_activity(
            "submit_ingest",
            SubmitCall(batch=batch),
            id=uuid4().hex,
            task_queue=here.queue,
            result_type=str,
            start_to_close_timeout=timedelta(seconds=60),
            heartbeat_timeout=timedelta(seconds=2),
        )
        assert await doomed.wait() == -signal.SIGKILL
        began = time.monotonic()
        second = await start(here, servers)
        try:
            job = await handle.result()
            receipt = await here.client.get_workflow_handle(job, result_type=Receipt).result()
            took = time.monotonic() - began
        finally:
            await second.stop(15)
        assert receipt.count(Fate.SEARCHABLE) == 60
        stored = await here.services.longterm.get(tenant, [item.id for item in receipt.items])
        assert {(entry.seen, entry.version) for entry in stored.values()} == {(1, 1)}
        assert await here.services.longterm.count(tenant) == 60
        dates = [entry.forget_after for entry in stored.values() if entry.forget_after]
        assert len(dates) == 60
        assert await here.services.due.next(tenant) == min(dates), "a sweep will find them"
        # The journal says the same, and nothing is left to be done.
        assert fold(await here.services.journal.read(tenant)) == (stored, {}, ())
        folder, key = here.settings.journal_folder / FOLDER, here.services.tenant_key.derived(LABEL)
        told = [one for line in shown(folder, key, tenant) for one in line.ids["insert"]]
        assert sorted(told) == sorted(stored), "each change is audited, and once"
        report = verified(folder, key, [one.head for one in await AuditHeads(here.services.redis).all()])
        assert report.problems == ()
        # Before its first change a worker has no chain that could end.
        is_before = point.startswith(("submit", "plan"))
        assert is_before or any("ended uncleanly" in note.what for note in report.notes)
        # A lease that its holder took into the grave has to run out first.
        waited = 10 if point.startswith(("apply", "change")) else 0
        assert took < ENDED_WITHIN + waited


def _nothing_is_recognised_by_its_operation(patch: pytest.MonkeyPatch) -> None:
    def unknown(change: Change, entry: Entry | None) -> bool:
        return False

    patch.setattr(comparison, "_is_made", unknown)


def _nothing_is_recognised_by_its_occurrence(patch: pytest.MonkeyPatch) -> None:
    def new(tenant: str, item: Item) -> str:
        return uuid4().hex

    patch.setattr(observation, "occurrence_of", new)


def _only_what_is_written_now_is_dated(patch: pytest.MonkeyPatch) -> None:
    index = Door._index  # pyright: ignore[reportPrivateUsage]

    async def dated(self: Door, tenant: str, entries: Sequence[Entry]) -> None:
        await index(self, tenant, ())

    patch.setattr(Door, "_index", dated)


async def _continued(
    servers: Servers, folder: Path, tenant: str, *, point: str, without: Sequence[Callable[[pytest.MonkeyPatch], None]]
) -> tuple[set[tuple[int, int]], datetime | None]:
    """Kill a worker at a point of a job, and have one in this process go on without some protections.

    Returns:
        How often the entries were seen, and their versions; and what the due index says.
    """
    batch = batch_of(tenant, 60)
    async with deployment(servers, folder, serving=False) as here:
        doomed = await start(here, servers, point)
        job = await here.client.start_workflow(
            "IngestMemory",
            batch,
            id=job_id(batch),
            task_queue=here.queue,
            task_timeout=TASK_TIMEOUT,
            result_type=Receipt,
        )
        assert await doomed.wait() == -signal.SIGKILL
        assert await here.services.due.next(tenant) is None, "the worker died before it could say when they are due"
        with pytest.MonkeyPatch.context() as patch:
            for remove in without:
                remove(patch)
            async with deployment(servers, folder, queue=here.queue):
                receipt = await job.result()
        assert receipt.count(Fate.SEARCHABLE) == 60
        stored = await here.services.longterm.get(tenant, [item.id for item in receipt.items])
        return {(entry.seen, entry.version) for entry in stored.values()}, await here.services.due.next(tenant)


@pytest.mark.parametrize(
    ("without", "counts"),
    [
        pytest.param((_nothing_is_recognised_by_its_operation,), {(1, 1)}, id="occurrences suffice"),
        pytest.param((_nothing_is_recognised_by_its_occurrence,), {(1, 1)}, id="operations suffice"),
        pytest.param(
            (_nothing_is_recognised_by_its_operation, _nothing_is_recognised_by_its_occurrence),
            {(2, 2)},
            id="control: neither",
        ),
    ],
)
@pytest.mark.slow
async def test_a_successor_recognises_what_its_predecessor_wrote(
    servers: Servers,
    tmp_path: Path,
    tenant: str,
    without: Sequence[Callable[[pytest.MonkeyPatch], None]],
    counts: set[tuple[int, int]],
) -> None:
    assert (await _continued(servers, tmp_path, tenant, point="apply.written", without=without))[0] == counts


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["kept", "control: what is stored already is not dated"])
async def test_what_a_dead_worker_wrote_is_found_by_a_sweep_when_it_is_due(
    servers: Servers, tmp_path: Path, tenant: str, protected: bool
) -> None:
    without = () if protected else (_only_what_is_written_now_is_dated,)
    counts, due = await _continued(servers, tmp_path, tenant, point="apply.written", without=without)
    assert counts == {(1, 1)}
    assert (due is not None and due <= datetime.now(UTC)) is protected


async def sweep(here: Deployment, user: str, day: int) -> WorkflowHandle[Any, ForgetResult]:
    return await here.client.start_workflow(
        "ForgetMemory",
        ForgetRun(user_id=user, at=LONG_AGO + timedelta(days=day)),
        id=uuid4().hex,
        task_queue=here.queue,
        result_type=ForgetResult,
        task_timeout=TASK_TIMEOUT,
    )


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("forget.logged", marks=pytest.mark.slow),
        pytest.param("change.journaled", marks=pytest.mark.slow),
        "forget.tombstoned",
        pytest.param("forget.purged", marks=pytest.mark.slow),
    ],
)
async def test_a_worker_killed_in_a_sweep(servers: Servers, tmp_path: Path, point: str) -> None:
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path, serving=False) as here:
        tenant, ids = await _remembered(here, user)
        doomed = await start(here, servers, point)
        forgetting = await sweep(here, user, day=1)
        if point == "forget.purged":
            await forgetting.result()
        purging = await sweep(here, user, day=60) if point == "forget.purged" else None
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(here, servers)
        assert (await forgetting.result()).report.forgotten == 3
        if purging is None:
            due = await here.services.due.next(tenant)
            assert due == LONG_AGO + timedelta(days=31), "a sweep will find them to purge"
        purging = purging or await sweep(here, user, day=60)
        assert (await purging.result()).report.purged == 3
        await second.stop(15)
        assert await here.services.longterm.get(tenant, ids) == {}
        assert await here.services.due.next(tenant) is None
        log = await here.services.deletions.of(tenant, ids)
        assert {(line.purged, line.reason) for line in log.values()} == {(True, "expired")}
        assert len(log) == 3
        assert fold(await here.services.journal.read(tenant)) == ({}, log, ())
        assert not _on_disk(here, tenant), "the text is gone from the disk"


async def _remembered(here: Deployment, user: str) -> tuple[str, list[str]]:
    """Store three records that are due; return their tenant and ids."""
    tenant = here.services.tenant_key.tenant_of(user)
    batch = batch_of(tenant, 3)
    plan = await here.services.writer.plan(batch, at=LONG_AGO)
    await here.services.writer.apply(batch, plan, operation="setup")
    return tenant, [item.target for item in plan.items]


def _on_disk(here: Deployment, tenant: str) -> bool:
    files = (here.settings.journal_folder / tenant).glob("*.jsonl")
    return any(b"payload" in file.read_bytes() for file in files)


@pytest.mark.parametrize("protected", [True, False], ids=["kept", "control: nothing is recognised by its operation"])
@pytest.mark.slow
async def test_a_sweep_that_goes_on_counts_what_its_dead_worker_forgot(
    servers: Servers, tmp_path: Path, protected: bool
) -> None:
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path, serving=False) as here:
        await _remembered(here, user)
        doomed = await start(here, servers, "forget.tombstoned")
        forgetting = await sweep(here, user, day=1)
        assert await doomed.wait() == -signal.SIGKILL
        with pytest.MonkeyPatch.context() as patch:
            if not protected:
                _nothing_is_recognised_by_its_operation(patch)
            async with deployment(servers, tmp_path, queue=here.queue):
                assert ((await forgetting.result()).report.forgotten == 3) is protected


async def _drops_nothing(self: Journal, *_: object, **__: object) -> None:
    """Leave the lines of what is purged where they are."""


@pytest.mark.parametrize("protected", [True, False], ids=["gone", "control: the journal keeps what is purged"])
@pytest.mark.slow
async def test_a_purge_that_goes_on_takes_the_text_from_the_disk(
    servers: Servers, tmp_path: Path, protected: bool
) -> None:
    user = f"user {uuid4().hex}"
    async with deployment(servers, tmp_path, serving=False) as here:
        tenant, _ = await _remembered(here, user)
        doomed = await start(here, servers, "forget.purged")
        await (await sweep(here, user, day=1)).result()
        purging = await sweep(here, user, day=60)
        assert await doomed.wait() == -signal.SIGKILL
        assert _on_disk(here, tenant), "the worker died before the journal"
        with pytest.MonkeyPatch.context() as patch:
            if not protected:
                patch.setattr(Journal, "drop", _drops_nothing)
            async with deployment(servers, tmp_path, queue=here.queue):
                assert (await purging.result()).report.purged == 3
        assert _on_disk(here, tenant) is not protected
