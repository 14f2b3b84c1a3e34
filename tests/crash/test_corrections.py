"""A worker killed while a model's correction is made: the memory is corrected once, and the task goes on."""

import re
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue
from pytest_httpserver import HTTPServer

from perdure.memory.writing.batch_checks import read_batch
from perdure.values.entries import Memory, State
from tests.conftest import Servers
from tests.crash.test_jobs import start
from tests.deployment import deployment
from tests.support.goals import goal, settings_of
from tests.support.harness import Bench
from tests.support.turn_server import Asked, Call, Says, TurnServer

BEFORE = datetime.now(UTC) - timedelta(days=30)


def script(asked: Asked) -> Says:
    if asked.outputs:
        return Says(asked.outputs[-1])
    [shown] = re.findall(r"; (mem_[0-9a-f]+)\)", asked.first)
    return Says(calls=(Call("correct", {"id": shown, "text": "The standup is at 10."}),))


@pytest.mark.slow
@pytest.mark.parametrize("point", ["change.journaled", "apply.half_written", "apply.written", "change.audited"])
async def test_a_worker_killed_while_it_corrects(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, point: str
) -> None:
    settings = settings_of(tmp_path, TurnServer(httpserver, script), "name: worker\nmodel: openai:test\n")
    async with deployment(servers, tmp_path, serving=False, settings=settings) as here:
        task = goal("When is the standup?")
        tenant, services = here.services.tenant_key.tenant_of(task.user_id), here.services
        items: list[JsonValue] = [
            {
                "kind": "memory",
                "content": "The standup is at 9.",
                "source": "learned",
                "occurrence": "o",
                "occurred_at": BEFORE.isoformat(),
            }
        ]
        batch = read_batch(tenant=tenant, key="k", items=items)
        plan = await services.writer.plan(batch, at=BEFORE)
        await services.writer.apply(batch, plan, operation="setup")

        bench = Bench(client=here.client, queue=here.queue, folder=tmp_path, deployed=here)
        doomed = await start(here, servers, point)
        handle = await bench.start(task)
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(here, servers)
        try:
            result = await handle.result()
        finally:
            await second.stop(15)
        await bench.replay(handle)
        stored = await services.longterm.everything(tenant)
        found = {one.text: (one.state, one.version) for one in stored.values() if isinstance(one, Memory)}
        assert found == {
            "The standup is at 9.": (State.SUPERSEDED, 2),
            "The standup is at 10.": (State.CURRENT, 1),
        }
        assert str(result.output).startswith("corrected")
