"""A worker killed while it credits: every memory that the task recalled has one trial more, and no memory has two."""

import signal
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure.agent.steps.task_calls import CreditCall
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.recalls import TaskRecalls
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.entries import Memory
from tests.conftest import Servers
from tests.crash.test_jobs import LONG_AGO, start
from tests.deployment import deployment


@pytest.mark.slow
@pytest.mark.parametrize("point", ["apply.half_written", "credit.written"])
async def test_a_worker_killed_while_it_credits(servers: Servers, tmp_path: Path, tenant: str, point: str) -> None:
    items: list[JsonValue] = [
        {
            "kind": "memory",
            "content": f"Room {number} has {number} windows.",
            "occurrence": f"o{number}",
            "occurred_at": LONG_AGO.isoformat(),
        }
        for number in range(60)
    ]
    async with deployment(servers, tmp_path, serving=False) as here:
        services = here.services
        batch = read_batch(tenant=tenant, key="k", items=items)
        plan = await services.writer.plan(batch, at=LONG_AGO)
        await services.writer.apply(batch, plan, operation="setup")
        ids = [item.target for item in plan.items]
        recalls = TaskRecalls(services.redis, services.bindings.ttl)
        await recalls.add(tenant, "t", ids)

        doomed = await start(here, servers, point)
        handle = await here.client.start_workflow(
            "CreditMemories",
            CreditCall(tenant=tenant, task_id="t", task="t", succeeded=True),
            id=uuid4().hex,
            task_queue=here.queue,
            task_timeout=TASK_TIMEOUT,
        )
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(here, servers)
        try:
            await handle.result()
        finally:
            await second.stop(15)
        stored = (await services.longterm.get(tenant, ids)).values()
        memories = [one for one in stored if isinstance(one, Memory)]
        assert [(len(one.trials), len(one.successes), one.version) for one in memories] == [(1, 1, 1)] * 60
        assert await recalls.of(tenant, "t") == {}
