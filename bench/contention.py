"""Jobs of one tenant that are under way at once and share memories, next to the same jobs one at a time."""

import asyncio
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pydantic import JsonValue
from temporalio.client import Client

from bench.measured_worker import serving
from bench.sentences import sentences
from perdure.memory.writing import writer
from perdure.memory.writing.batch_checks import read_batch
from perdure.settings import Addresses
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.items import statement
from perdure.values.jobs import Batch, Fate, Receipt, WritePlan
from worker.wiring.services import Services

FEW, MANY = 5, 50
ITEMS = 25
SHARED = 5
"""Items of each batch that every other batch of the tenant has too."""
ROUNDS = 3


@dataclass(frozen=True)
class _Bench:
    client: Client
    services: Services
    queue: str
    texts: Sequence[str]

    def batches(self, jobs: int) -> list[Batch]:
        """Return the batches of a new tenant."""
        tenant, own = f"t_{uuid4().hex}", iter(self.texts[SHARED:])
        return [
            read_batch(
                tenant=tenant,
                key=f"job-{job}",
                items=[
                    _item(text, job) for text in (*self.texts[:SHARED], *(next(own) for _ in range(ITEMS - SHARED)))
                ],
            )
            for job in range(jobs)
        ]


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, several times, and return the medians."""
    async with _serving(addresses) as bench:
        await _searchable(bench, bench.batches(2), at_once=True)
        plans = {jobs: (await _plans(bench, jobs)) / jobs for jobs in (FEW, MANY)}
        alone: list[float] = []
        together: list[float] = []
        for _ in range(ROUNDS):
            alone.append(await _searchable(bench, bench.batches(MANY), at_once=False))
            together.append(await _searchable(bench, bench.batches(MANY), at_once=True))
    return {
        f"contention.plans_per_job_at_{FEW}": plans[FEW],
        f"contention.plans_per_job_at_{MANY}": plans[MANY],
        "contention.per_second_alone": statistics.median(alone),
        f"contention.per_second_at_{MANY}": statistics.median(together),
        f"contention.ratio_at_{MANY}": statistics.median(many / one for many, one in zip(together, alone, strict=True)),
    }


@asynccontextmanager
async def _serving(addresses: Addresses) -> AsyncGenerator[_Bench]:
    async with serving(addresses) as (client, services, settings):
        queue = settings.task_queue
        distinct = {statement(text): text for text in sentences()}
        yield _Bench(client, services, queue, list(distinct.values()))


def _item(text: str, job: int) -> JsonValue:
    return {
        "kind": "memory",
        "content": text,
        "occurrence": f"job/{job}",
        "occurred_at": datetime.now(UTC).isoformat(),
    }


async def _plans(bench: _Bench, jobs: int) -> int:
    """Return how often the planning function is called for so many jobs at once."""
    plan, calls = writer.plan, 0

    def counted(*arguments: Any, **named: Any) -> WritePlan:
        nonlocal calls
        calls += 1
        return plan(*arguments, **named)

    writer.plan = counted
    try:
        await _searchable(bench, bench.batches(jobs), at_once=True)
    finally:
        writer.plan = plan
    return calls


async def _searchable(bench: _Bench, batches: Sequence[Batch], *, at_once: bool) -> float:
    """Return items per second from the first submission to the last receipt."""
    began = time.perf_counter()
    if at_once:
        kept = await asyncio.gather(*(_job(bench, batch) for batch in batches))
    else:
        kept = [await _job(bench, batch) for batch in batches]
    elapsed = time.perf_counter() - began
    tenant = batches[0].tenant
    stored = await bench.services.longterm.everything(tenant)
    assert stored.keys() == frozenset().union(*kept), f"{len(stored)} are stored"
    await bench.services.longterm.drop_tenant(tenant)
    return len(batches) * ITEMS / elapsed


async def _job(bench: _Bench, batch: Batch) -> frozenset[str]:
    """Return the ids of the memories that stand for a batch's items."""
    job = await bench.client.start_workflow(
        "IngestMemory",
        batch,
        id=f"ingest-{uuid4().hex}",
        task_queue=bench.queue,
        task_timeout=TASK_TIMEOUT,
        result_type=Receipt,
    )
    receipt: Receipt = await job.result()
    assert receipt.count(Fate.SEARCHABLE) == ITEMS
    return frozenset(line.id for line in receipt.items if line.id)
