"""Episodes that waited in the mirror reach Redis once it is back, each once."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from activities.episodes import StepNotes
from localservers import Server
from perdure.episodes import Episode, EpisodeKind
from perdure.stores.journal.lines import EpisodeLine
from perdure.stores.journal.log import Mirror
from perdure.stores.redis.connection import connect
from perdure.stores.redis.episodes import Episodes
from tests.conftest import OwnServers
from worker.upkeep import bring_episodes, keep_catching_up

NOW = datetime.now(UTC)


def line(name: str, at: datetime = NOW) -> EpisodeLine:
    episode = Episode(id=name, kind=EpisodeKind.TOOL, text=name, importance=0.5, at=at)
    return EpisodeLine(session="s", episode=episode)


async def test_waiting_episodes_are_brought_when_redis_is_back(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS)
    redis = connect(fleet.addresses.redis_url)
    mirror, episodes = Mirror(tmp_path), Episodes(redis)
    for kept in (line("one"), line("two"), line("too old", NOW - timedelta(hours=25))):
        await mirror.append(tenant, kept)
    await fleet.stop(Server.REDIS)
    waiting = StepNotes(episodes, mirror).waiting
    task = asyncio.create_task(keep_catching_up(mirror, episodes, waiting))
    await fleet.start(Server.REDIS)
    async with asyncio.timeout(20):
        while {one.id for one in await episodes.recent(tenant, "s", 10)} != {"one", "two"}:
            await asyncio.sleep(0)
    task.cancel()
    assert await bring_episodes(mirror, episodes, now=NOW) == 0, "what is there is not brought again"
    await redis.aclose()
