"""A worker killed at every commit point of a job: the job ends, and nothing is lost, doubled or stuck."""

import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from demo.workers import start_mortal
from localservers.processes import Child
from perdure.jobs import Batch, Fate, Receipt
from perdure.memory.auditing.reading import shown, verified
from perdure.memory.writing.checking import read_batch
from perdure.requests import ForgetResult
from perdure.stores.audit.chain import LABEL
from perdure.stores.audit.files import FOLDER
from perdure.stores.journal.folding import fold
from perdure.stores.redis.heads import AuditHeads
from perdure.temporal.attributes import TASK_TIMEOUT
from tests.conftest import Servers
from tests.deployment import Deployment, deployment
from workflows.forget_memory import ForgetRun

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

ENDED_WITHIN = 12.0
"""Seconds from a worker's start, which takes 3, to the end of the job that its predecessor was killed in."""


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
        pytest.param("submit.mirrored", marks=pytest.mark.slow),
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
            batch,
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
        # The journal says the same, and nothing is left to be done.
        assert fold(await here.services.journal.read(tenant)) == (stored, {}, ())
        folder, key = here.settings.journal_folder / FOLDER, here.services.tenant_key.derived(LABEL)
        told = [one for line in shown(folder, key, tenant) for one in line.ids["insert"]]
        assert sorted(told) == sorted(stored), "each change is audited, and once"
        report = verified(folder, key, [one.head for one in await AuditHeads(here.services.redis).all()])
        assert report.problems == ()
        assert point.startswith("submit") or any("ended uncleanly" in note.what for note in report.notes)
        # A lease that its holder took into the grave has to run out first.
        waited = 10 if point.startswith(("apply", "change")) else 0
        assert took < ENDED_WITHIN + waited


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
        tenant = here.services.tenant_key.tenant_of(user)
        batch = batch_of(tenant, 3)
        plan = await here.services.writer.plan(batch, at=LONG_AGO)
        await here.services.writer.apply(batch, plan, operation="setup")
        ids = [item.target for item in plan.items]

        doomed = await start(here, servers, point)
        forgetting = await sweep(here, user, day=1)
        if point == "forget.purged":
            await forgetting.result()
        purging = await sweep(here, user, day=60) if point == "forget.purged" else None
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(here, servers)
        assert (await forgetting.result()).report.forgotten == 3
        purging = purging or await sweep(here, user, day=60)
        assert (await purging.result()).report.purged == 3
        await second.stop(15)
        assert await here.services.longterm.get(tenant, ids) == {}
        log = await here.services.deletions.of(tenant, ids)
        assert {(line.purged, line.reason) for line in log.values()} == {(True, "expired")}
        assert len(log) == 3
        assert fold(await here.services.journal.read(tenant)) == ({}, log, ())
        files = (here.settings.journal_folder / tenant).glob("*.jsonl")
        assert not any(b"payload" in file.read_bytes() for file in files), "the text is gone from the disk"
