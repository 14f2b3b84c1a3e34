"""Every workflow also runs with its cache off, so that each of its steps is a replay of those before."""

import asyncio
import itertools
import os
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.client import Client
from temporalio.worker import Worker

from tests.conftest import Servers, clean_settings
from tests.replay import histories
from tests.support.waiting import until


@pytest.mark.slow
async def test_all_that_is_recorded_happens_with_the_cache_off(tmp_path: Path) -> None:
    """The recorder's own checks say whether each run went as it should."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.replay.record",
        "--uncached",
        str(tmp_path / "histories"),
        env=os.environ | clean_settings(tmp_path).environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()[-4000:]
    assert recorded(tmp_path / "histories") == recorded(histories.FOLDER), "make histories"


def recorded(folder: Path) -> set[str]:
    """Return what is recorded; in how many runs is a matter of chance."""
    return {re.sub(r"_\d+$", "", name) for name in histories.names(folder)}


@workflow.defn(sandboxed=False)
class Forgetful:
    """Takes another way whenever it starts from its beginning again."""

    starts: ClassVar[Iterator[int]]

    @workflow.run
    async def run(self) -> None:
        if next(self.starts) == 0:
            await workflow.sleep(0.01)
        else:
            await workflow.execute_activity("nothing", start_to_close_timeout=timedelta(seconds=1))


@pytest.mark.parametrize(("cached", "kind"), [(1000, "completed"), (0, "failed task")], ids=["cached", "replayed"])
async def test_control_what_a_cache_hides_is_found_without_it(servers: Servers, cached: int, kind: str) -> None:
    Forgetful.starts = itertools.count()
    client = await Client.connect(servers.temporal)
    queue = f"q-{uuid4().hex[:12]}"
    async with Worker(client, task_queue=queue, workflows=[Forgetful], max_cached_workflows=cached):
        handle = await client.start_workflow(Forgetful.run, id=queue, task_queue=queue)

        async def ended() -> str:
            for event in (await handle.fetch_history()).events:
                if event.HasField("workflow_execution_completed_event_attributes"):
                    return "completed"
                failed = event.workflow_task_failed_event_attributes
                if failed.cause == WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR:
                    return "failed task"
            return ""

        assert await until(ended, bool) == kind
        if kind != "completed":
            await handle.terminate()
