"""Workers, and Weaviate, SIGKILLed inside the store's calls: every memory is found by its own vector in the end.

Few kills hit the moment that does damage. ``memory/test_repair.py`` and ``stores/weaviate/test_writes.py`` make it for
certain, and have the controls.
"""

import asyncio
import random
import signal
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.jobs import job_id
from localservers import Server
from perdure.errors import VectorIndexDamaged
from perdure.memory.writing.batch_checks import read_batch
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.entries import Entry
from perdure.values.jobs import Batch, Fate, Receipt
from tests.conftest import OwnServers, Servers
from tests.deployment import Deployment, deployment
from tests.support.cutting import cut_off, lose_vectors
from tests.support.nearest import nearest
from tests.support.processes import processes, start_mortal
from tests.support.waiting import until

ITEMS = 100
A_WRITE = 50
"""Objects that the door writes in one call."""
JOBS = 50
LANES = 4
AT_ONCE = 5
"""Jobs that a worker has when it is killed; each writes to a new user, since first writes are damaged most often."""


def batch_of(tenant: str, job: int) -> Batch:
    items: list[JsonValue] = [
        {
            "kind": "memory",
            "content": f"Room {number} of house {job} has {number * 7 + job} windows.",
            "occurrence": f"o{job}/{number}",
            "occurred_at": datetime(2026, 5, 1, tzinfo=UTC).isoformat(),
        }
        for number in range(ITEMS)
    ]
    return read_batch(tenant=tenant, key=f"job {job}", items=items)


async def start(here: Deployment, batches: Sequence[Batch]) -> list[str]:
    """Start jobs as submitting them does, without waiting for them."""
    for batch in batches:
        await here.client.start_workflow(
            "IngestMemory", batch, id=job_id(batch), task_queue=here.queue, task_timeout=TASK_TIMEOUT
        )
    return [job_id(batch) for batch in batches]


async def not_found(here: Deployment, batches: Sequence[Batch], jobs: Sequence[str]) -> list[str]:
    """Ask for every memory by its own vector, once its job has ended; return the ids of those that do not come."""
    lost: list[str] = []
    for batch, job in zip(batches, jobs, strict=True):
        receipt = await here.client.get_workflow_handle(job, result_type=Receipt).result()
        assert receipt.count(Fate.SEARCHABLE) == len(batch.items)
        contents = [item.content for item in batch.items if item.kind == "memory"]
        vectors = await here.services.embedder.embed(contents)
        for item, vector in zip(receipt.items, vectors, strict=True):
            try:
                hits = await nearest(here.services.longterm, batch.tenant, vector, 3)
            except VectorIndexDamaged:
                hits = []
            lost += [item.id] * (item.id not in {hit.entry.id for hit in hits})
        stored = await here.services.longterm.get(batch.tenant, [item.id for item in receipt.items])
        assert {(entry.seen, entry.version) for entry in stored.values()} == {(1, 1)}
    return lost


@pytest.mark.timeout(1500)
@pytest.mark.slow
async def test_workers_killed_inside_the_stores_calls(servers: Servers, tmp_path: Path, tenant: str) -> None:
    batches = [batch_of(f"{tenant}_{job}", job) for job in range(JOBS)]

    async def lane(number: int) -> list[str]:
        """Kill workers of one task queue: most of the time is spent waiting for the leases of those that died."""
        chance, mine = random.Random(number), batches[number::LANES]
        async with (
            processes(servers, tmp_path) as (workers, bench),
            deployment(servers, tmp_path, queue=bench.queue, serving=False) as here,
        ):
            for first in range(0, len(mine), AT_ONCE):
                jobs = await start(here, mine[first : first + AT_ONCE])
                for _ in range(2):
                    worker = await workers.start(killed_in_a_write_at=chance.randint(1, A_WRITE))
                    assert await worker.wait() == -signal.SIGKILL
                worker = await workers.start()
                await _all_done(here, jobs)
                worker.kill()
                await worker.wait()
            return await not_found(here, mine, [job_id(batch) for batch in mine])

    assert await asyncio.gather(*(lane(number) for number in range(LANES))) == [[]] * LANES


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["by meaning", "control: by a filter"])
async def test_a_job_takes_for_searchable_what_its_own_vector_finds(
    servers: Servers, tmp_path: Path, tenant: str, protected: bool
) -> None:
    batch = batch_of(tenant, 1)
    batch = batch.changed(items=batch.items[:20])
    async with (
        processes(servers, tmp_path) as (workers, bench),
        deployment(servers, tmp_path, queue=bench.queue, serving=False) as here,
    ):
        await _cut_off(here, batch)
        jobs = await start(here, [batch])
        await workers.start(confirming_by_filter=not protected)
        assert (await not_found(here, [batch], jobs) == []) is protected


async def _cut_off(here: Deployment, batch: Batch) -> tuple[dict[str, Entry], list[str]]:
    """Store a batch by a write that is cut off; return its entries, and the ids of those that no vector finds."""
    services = here.services
    plan = await services.writer.plan(batch, at=datetime.now(UTC))
    await services.writer.apply(batch, plan, operation="before")
    entries = await services.longterm.get(batch.tenant, [item.target for item in plan.items])
    vectors = await services.embedder.embed([entry.text for entry in entries.values()])
    await services.longterm.drop_tenant(batch.tenant)
    by_id = dict(zip(entries, vectors, strict=True))
    return entries, await cut_off(services.longterm, batch.tenant, list(entries.values()), by_id)


async def _all_done(here: Deployment, jobs: Sequence[str]) -> None:
    for job in jobs:
        await here.client.get_workflow_handle(job).result()


@pytest.mark.timeout(900)
@pytest.mark.slow
async def test_weaviate_killed_inside_its_calls(own_servers: OwnServers, tmp_path: Path, tenant: str) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    servers = Servers.model_validate(fleet.addresses.model_dump())
    chance = random.Random(8)
    batches = [batch_of(f"{tenant}_{job}", job) for job in range(10)]
    async with deployment(servers, tmp_path, serving=False) as here:
        worker = await start_mortal(here.settings, servers, here.settings.home / "worker.log")
        try:
            for batch in batches:
                jobs = await start(here, [batch])

                async def written(batch: Batch = batch) -> int:
                    known = batch.tenant in await here.services.longterm.tenants()
                    return await here.services.longterm.count(batch.tenant) if known else 0

                await until(written, chance.randint(1, ITEMS).__le__)
                fleet.child(Server.WEAVIATE).signal(signal.SIGKILL)
                await fleet.child(Server.WEAVIATE).wait()
                await fleet.start(Server.WEAVIATE)
                await _all_done(here, jobs)
            # Also what was confirmed before Weaviate died.
            for batch in batches:

                async def lost(batch: Batch = batch) -> list[str]:
                    return await here.services.longterm.unsearchable(batch.tenant)

                await until(lost, lambda ids: not ids, seconds=60)
            assert await not_found(here, batches, [job_id(batch) for batch in batches]) == []
        finally:
            await worker.stop(15)


@pytest.mark.slow
async def test_what_lost_its_vector_with_the_end_of_weaviates_log_is_written_anew(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    servers = Servers.model_validate(fleet.addresses.model_dump())
    batch = batch_of(tenant, 1)
    async with deployment(servers, tmp_path) as here:
        jobs = await start(here, [batch])
        await _all_done(here, jobs)
    fleet.child(Server.WEAVIATE).signal(signal.SIGKILL)
    await fleet.child(Server.WEAVIATE).wait()
    lose_vectors(tmp_path / "own-0" / "data" / "weaviate", tenant, kept=0.9)
    await fleet.start(Server.WEAVIATE)
    async with deployment(servers, tmp_path, serving=False) as here:
        longterm = here.services.longterm
        ids = [item.target for item in (await here.services.writer.plan(batch, at=datetime.now(UTC))).items]
        assert len(await longterm.get(tenant, ids)) == ITEMS, "the control: filters find them"
        # Weaviate either passes them over, or finds them before all others whatever is asked.
        assert await not_found(here, [batch], jobs), "the control: vectors do not"
        assert 5 <= len(await longterm.unsearchable(tenant)) <= 15

        async def lost() -> list[str]:
            return await longterm.unsearchable(tenant)

        # A worker that starts later has not seen Weaviate's restart, and has recent writes checked all the same.
        worker = await start_mortal(here.settings, servers, here.settings.home / "worker.log")
        try:
            # It has to start first, which takes 10 s of these where six other processes compute.
            await until(lost, lambda left: not left, seconds=60)
            assert await not_found(here, [batch], jobs) == []
        finally:
            await worker.stop(15)


@pytest.mark.slow
async def test_a_worker_killed_while_it_repairs(servers: Servers, tmp_path: Path, tenant: str) -> None:
    batch = batch_of(tenant, 1)
    batch = batch.changed(items=batch.items[:20])
    async with deployment(servers, tmp_path, serving=False) as here:
        before, missing = await _cut_off(here, batch)

        log = here.settings.home / "worker.log"
        settings = here.settings.changed(task_queue=here.queue)
        jobs = await start(here, [batch])
        gone = set[str]()
        # A worker repairs everybody's: it may die while it repairs what another test has cut off.
        for _ in range(5):
            doomed = await start_mortal(settings, servers, log, crash_at="repair.deleted")
            assert await doomed.wait() == -signal.SIGKILL
            if gone := before.keys() - await here.services.longterm.get(tenant, list(before)):
                break
        assert gone == set(missing), "the control: they are deleted at this moment"
        second = await start_mortal(settings, servers, log)
        try:
            assert await not_found(here, [batch], jobs) == []
        finally:
            await second.stop(15)
        assert await here.services.longterm.get(tenant, list(before)) == before, "same versions, same operations"
