"""Forgetting costs what is due, and not what is stored: the same 500 among 10,000, 50,000 and 100,000 of one user.

Then 500 users of 1,000 have something due each, and a sweep in Temporal visits those alone.
"""

import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from temporalio.client import Client

from bench import bulk
from perdure.names import Workflow
from perdure.settings import Addresses, Settings
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.temporal import namespace
from perdure.temporal.plugin import Plugin
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Memory
from perdure.values.requests import ForgetRequest, ForgetResult
from worker.policies import rules_of
from worker.process import make_worker
from worker.wiring.services import Services, open_services

_SIZES = (10_000, 50_000, 100_000)
_DUE = 500
_ROUNDS = 5
_TENANTS = 1_000
_AT_ONCE = 8
_BULK_SECONDS = 120.0
"""The longest that one write of a thousand objects may take."""
_BY = Actor(kind=ActorKind.SYSTEM)
_EVER = datetime(2001, 1, 1, tzinfo=UTC)
"""When the first round's entries expired; those of each further round a day later."""


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both."""
    with tempfile.TemporaryDirectory(prefix="perdure-bench-") as home:
        settings = Settings().changed(home=Path(home), task_queue=f"forget-{uuid4().hex[:8]}")
        async with open_services(settings, addresses) as services:
            await services.belongs()
            await services.prepare()
            figures = await _flatness(services, addresses, settings)
            figures["forget.tenants_visited"] = await _visited(services, addresses, settings)
    seconds = [figures[f"forget.seconds_at_{size // 1_000}k"] for size in _SIZES]
    return figures | {"forget.ratio": max(seconds) / min(seconds)}


async def _flatness(services: Services, addresses: Addresses, settings: Settings) -> dict[str, float]:
    """Return the seconds that forgetting the due ones takes, by how much is stored besides."""
    longterm = LongTerm(
        addresses.weaviate_url,
        addresses.weaviate_grpc_port,
        embedding=Embedding(name=services.embedder.name, dimension=services.embedder.dimension),
        api_key=addresses.weaviate_api_key,
        write_timeout=_BULK_SECONDS,
    )
    rules, now, tenant = rules_of(settings), datetime.now(UTC), f"t_{uuid4().hex}"
    made_up = bulk.vectors(services.embedder.dimension, seed=1)
    figures: dict[str, float] = {}
    stored = 0
    for size in _SIZES:
        entries = bulk.memories(size - stored, start=stored, now=now, rules=rules)
        stored = size
        begun = len(figures) * _ROUNDS
        due: list[Memory] = []
        for place in range(begun, begun + _ROUNDS):
            passing = bulk.memories(_DUE, start=(place + 1) * 10_000_000, now=now, rules=rules)
            end = _EVER + timedelta(days=place)
            due += [rules.dated(one.changed(valid_until=end)) for one in passing]
        await bulk.insert(longterm, tenant, [*entries, *due], made_up)
        await bulk.until_flushed(addresses, tenant, size)
        times = [await _forget(services, tenant, _EVER + timedelta(days=begun + one)) for one in range(_ROUNDS)]
        figures[f"forget.seconds_at_{size // 1_000}k"] = statistics.median(times)
    await longterm.drop_tenant(tenant)
    # Nothing of it is due any more, which the index learns as a sweep would tell it.
    await services.forgetter.finish(tenant)
    await longterm.close()
    return figures


async def _forget(services: Services, tenant: str, at: datetime) -> float:
    """Forget what is due as a sweep does, plan by plan; return the seconds."""
    sweep, forgotten, more = uuid4().hex, 0, True
    began = time.perf_counter()
    while more:
        chosen = await services.forgetter.plan(tenant, at=at, approved=False)
        forgotten += (await services.forgetter.tombstone(chosen, sweep=sweep, by=_BY)).forgotten
        more = chosen.more
    await services.forgetter.finish(tenant)
    seconds = time.perf_counter() - began
    if forgotten != _DUE:
        raise RuntimeError(f"{forgotten} entries were forgotten, not {_DUE}")
    return seconds


async def _visited(services: Services, addresses: Addresses, settings: Settings) -> float:
    """Return how many tenants a sweep visits."""
    now, rules, gate = datetime.now(UTC), rules_of(settings), asyncio.Semaphore(_AT_ONCE)
    made_up = bulk.vectors(services.embedder.dimension, seed=2)

    async def write(number: int) -> None:
        [memory] = bulk.memories(1, start=number, now=now, rules=rules)
        is_due = number < _DUE
        memory = rules.dated(memory.changed(valid_until=_EVER if is_due else None))
        async with gate:
            tenant = f"t_{uuid4().hex}"
            await services.longterm.put(tenant, [memory], {memory.id: next(made_up)})
            # As the door does.
            if memory.forget_after:
                await services.due.lower(tenant, memory.forget_after)

    await asyncio.gather(*(write(number) for number in range(_TENANTS)))
    client = await Client.connect(addresses.temporal, plugins=[Plugin()])
    await namespace.prepare(client)
    async with make_worker(client, services, settings):
        result = await client.execute_workflow(
            Workflow.FORGET_MEMORY,
            ForgetRequest(by=_BY, at=now),
            id=f"forget-{uuid4().hex}",
            task_queue=settings.task_queue,
            result_type=ForgetResult,
        )
    report = result.report
    if report.forgotten != _DUE or report.failed or report.held:
        raise RuntimeError(f"{report.forgotten} entries were forgotten, not {_DUE}: {report.failed or report.held}")
    return report.tenants
