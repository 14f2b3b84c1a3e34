"""A worker killed between a failure and its lesson: there is exactly one lesson."""

import signal
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import WorkflowFailureError

from perdure import AgentTask
from perdure.values.entries import Memory
from perdure.values.jobs import Receipt
from tests.conftest import Servers
from tests.crash.test_jobs import start
from tests.support.harness import bench

FAILS = "steps: [{id: no, tool: garbles, retry: 1}]"


@pytest.mark.slow
@pytest.mark.parametrize("point", ["submit.journaled", "submit.started", "apply.half_written"])
async def test_a_worker_killed_before_a_lesson_is_written(servers: Servers, tmp_path: Path, point: str) -> None:
    async with bench(servers, tmp_path, serving=False) as one:
        assert one.deployed is not None
        doomed = await start(one.deployed, servers, point)
        user = uuid4().hex
        handle = await one.start(AgentTask(task_id="t", user_id=user, skill=one.skill(FAILS)))
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(one.deployed, servers)
        try:
            with pytest.raises(WorkflowFailureError):
                await handle.result()
            [job] = (await handle.query("memory"))["jobs"]
            await one.client.get_workflow_handle(job, result_type=Receipt).result()
        finally:
            await second.stop(15)
        tenant = one.services.tenant_key.tenant_of(user)
        found = await one.services.longterm.everything(tenant, kinds=("memory",))
        [lesson] = [each for each in found.values() if isinstance(each, Memory) and "lesson" in each.tags]
        assert lesson.seen == 1
