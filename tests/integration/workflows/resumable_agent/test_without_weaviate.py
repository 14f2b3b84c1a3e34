"""Weaviate away: recall answers from the journal and says so, tasks go on, and jobs end after its return."""

import time
from pathlib import Path

import pytest

from localservers import Server
from perdure.values.jobs import Fate, Receipt
from tests.conftest import OwnServers, Servers
from tests.support.harness import bench

SKILL = """
steps:
  - id: learn
    remember: [{lane: pattern, key: numpy, payload: {version: "2.4"}}]
  - id: known
    recall: {lane: pattern, key: numpy}
output: {known: "${steps.known.records}"}
"""

RECALL_SECONDS = 2
"""The time limit of a recall, which tests have much longer."""

RECALL_WITHIN = RECALL_SECONDS + 0.5


@pytest.mark.slow
async def test_tasks_go_on_and_jobs_end_after_its_return(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    servers = Servers.model_validate(fleet.addresses.model_dump())
    async with bench(servers, tmp_path, more={"recall_seconds": RECALL_SECONDS}) as agents:
        task = agents.task(agents.skill(SKILL))
        assert (await (await agents.start(task)).result()).recalled == 0
        await fleet.stop(Server.WEAVIATE)
        again = agents.task(task.skill).changed(user_id=task.user_id)
        began = time.monotonic()
        result = await (await agents.start(again)).result()
        assert time.monotonic() - began < RECALL_WITHIN + 1
        [recall] = result.recalls
        assert recall.degraded
        assert recall.milliseconds < RECALL_WITHIN * 1000
        assert result.output == {"known": {"numpy": {"version": "2.4"}}}, "the journal has what the first task learned"
        await fleet.start(Server.WEAVIATE)
        for job in result.jobs:
            receipt = await agents.client.get_workflow_handle(job, result_type=Receipt).result()
            assert [item.fate for item in receipt.items] == [Fate.SEARCHABLE]
