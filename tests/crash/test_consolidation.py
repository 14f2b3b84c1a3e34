"""A worker killed while it consolidates: two that say the same become one, once, and nothing of either is lost."""

import signal
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Memory, State
from perdure.values.requests import ConsolidateRequest
from tests.conftest import Servers
from tests.crash.test_jobs import LONG_AGO, start
from tests.deployment import deployment


@pytest.mark.slow
@pytest.mark.parametrize(
    "point",
    [
        pytest.param("change.journaled", marks=pytest.mark.slow),
        pytest.param("apply.half_written", marks=pytest.mark.slow),
        "consolidate.merged",
    ],
)
async def test_a_worker_killed_while_it_consolidates(servers: Servers, tmp_path: Path, tenant: str, point: str) -> None:
    texts = ("Deploys happen on Tuesdays.", "On Tuesdays, deploys really happen.")
    items: list[JsonValue] = [
        {"kind": "memory", "content": text, "occurrence": text, "occurred_at": LONG_AGO.isoformat()} for text in texts
    ]
    async with deployment(servers, tmp_path, serving=False) as here:
        services = here.services
        batch = read_batch(tenant=tenant, key="k", items=items, accepted_at=datetime.now(UTC))
        plan = await services.writer.plan(batch, at=datetime.now(UTC))
        await services.writer.apply(batch, plan, operation="setup")
        await ChangedTenants(services.redis).add(tenant, datetime.now(UTC))
        doomed = await start(here, servers, point)
        handle = await here.client.start_workflow(
            "ConsolidateMemory",
            ConsolidateRequest(by=Actor(kind=ActorKind.SYSTEM)),
            id=uuid4().hex,
            task_queue=here.queue,
            task_timeout=TASK_TIMEOUT,
        )
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(here, servers)
        try:
            assert (await handle.result())["merged"] == 1
        finally:
            await second.stop(15)
        stored = [one for one in (await services.longterm.everything(tenant)).values() if isinstance(one, Memory)]
        [whole] = [one for one in stored if one.state is State.CURRENT]
        assert (len(stored), whole.version, whole.seen) == (3, 1, 2)
        assert {*whole.merged_from} == {one.id for one in stored} - {whole.id}
