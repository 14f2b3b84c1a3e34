"""A worker killed while it promotes: what is worth keeping is kept, once, by one job."""

import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from perdure.stores.journal.lines import Accepted
from perdure.stores.redis.promotions import Promotions
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Memory, Purpose
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.requests import PromoteRequest
from tests.conftest import Servers
from tests.crash.test_jobs import start
from tests.deployment import deployment
from tests.support.waiting import until


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("promote.taken", marks=pytest.mark.slow),
        pytest.param("submit.journaled", marks=pytest.mark.slow),
        pytest.param("submit.started", marks=pytest.mark.slow),
        pytest.param("promote.submitted", marks=pytest.mark.slow),
    ],
)
async def test_a_worker_killed_while_it_promotes(servers: Servers, tmp_path: Path, tenant: str, point: str) -> None:
    system, now = Actor(kind=ActorKind.SYSTEM), datetime.now(UTC)
    turn = Episode(id="e", kind=EpisodeKind.TURN, text="I always travel by train.", importance=0.5, at=now)
    async with deployment(servers, tmp_path, serving=False) as here:
        services = here.services
        await services.consents.say(
            tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="consent", by=system, at=now
        )
        await services.episodes.append(tenant, "s", turn.changed(at=now - timedelta(hours=2)))
        doomed = await start(here, servers, point)
        handle = await here.client.start_workflow(
            "PromoteEpisodes",
            PromoteRequest(by=system),
            id=uuid4().hex,
            task_queue=here.queue,
            task_timeout=TASK_TIMEOUT,
        )
        assert await doomed.wait() == -signal.SIGKILL
        second = await start(here, servers)
        try:
            await handle.result()
            entries = await until(lambda: services.longterm.everything(tenant), bool)
        finally:
            await second.stop(15)
        [memory] = entries.values()
        assert isinstance(memory, Memory)
        assert (memory.text, memory.seen, memory.version) == (turn.text, 1, 1)
        lines = await services.journal.read(tenant)
        assert len({line.job for line in lines if isinstance(line, Accepted)}) <= 1
        assert await Promotions(services.redis).sessions(tenant) == []
