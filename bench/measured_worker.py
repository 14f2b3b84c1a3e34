"""A worker of the product for one measurement, on a task queue of its own."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import uuid4

from pydantic import JsonValue
from temporalio.client import Client

from perdure.memory.writing.batch_checks import read_batch
from perdure.settings import Addresses, Settings
from perdure.temporal.connection import connected
from perdure.values.jobs import Fate, ItemReceipt, Receipt, SubmitCall
from worker.process import make_worker
from worker.wiring.services import Services, open_services

_BATCH = 100
_MINUTE = timedelta(minutes=1)


class Serving(NamedTuple):
    """What a measurement asks, and what serves it."""

    client: Client
    services: Services
    settings: Settings


async def remembered(
    here: Serving, tenant: str, items: Sequence[Mapping[str, JsonValue]], *, at_once: int = 4
) -> list[ItemReceipt]:
    """Write items as anybody's are written, and wait until each is searchable.

    Args:
        here: What serves.
        tenant: Whose they are.
        items: As a caller writes them.
        at_once: How many jobs at once, each of at most 100 items.

    Raises:
        RuntimeError: One of them did not become searchable.
    """
    gate = asyncio.Semaphore(at_once)

    async def remember(start: int) -> tuple[ItemReceipt, ...]:
        async with gate:
            chunk: list[JsonValue] = [dict(item) for item in items[start : start + _BATCH]]
            batch = read_batch(tenant=tenant, key=f"bench-{uuid4().hex}", items=chunk)
            job = await here.client.execute_activity(
                "submit_ingest",
                SubmitCall(batch=batch),
                id=uuid4().hex,
                task_queue=here.settings.task_queue,
                result_type=str,
                start_to_close_timeout=_MINUTE,
            )
            receipt: Receipt = await here.client.get_workflow_handle(job, result_type=Receipt).result()
            return receipt.items

    found = await asyncio.gather(*(remember(start) for start in range(0, len(items), _BATCH)))
    receipts = [receipt for of_batch in found for receipt in of_batch]
    if refused := [receipt for receipt in receipts if receipt.fate is not Fate.SEARCHABLE]:
        raise RuntimeError(f"{len(refused)} of {len(items)} items are not searchable, the first: {refused[0].reason}")
    return receipts


@asynccontextmanager
async def serving(addresses: Addresses, **changes: Any) -> AsyncGenerator[Serving]:
    """Serve for as long as the block runs, with a warm model and some settings changed."""
    # What is found is measured, on a machine that may be busy: an answer that came late is not another answer.
    more = {"task_queue": f"bench-{uuid4().hex[:8]}", "recall_seconds": 60} | changes
    settings = Settings().changed(**more)
    client = await connected(addresses.temporal)
    async with open_services(settings, addresses) as services:
        await services.belongs()
        await services.prepare()
        await services.embedder.embed(["warm"])
        async with make_worker(client, services, settings):
            yield Serving(client, services, settings)
