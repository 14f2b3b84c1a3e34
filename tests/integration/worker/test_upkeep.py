"""Episodes that waited in the spool reach Redis once it is back, each once; a worker that does not belong stops."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities.episodes import SessionNotes
from localservers import Server
from perdure.episodes import Episode, EpisodeKind
from perdure.erasures import Erasure
from perdure.errors import JournalMismatch
from perdure.memory.wholeness import Wholeness
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis.connection import connect
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from tests.conftest import TENANT_KEY, OwnServers, Servers
from tests.integration.conftest import open_stores
from tests.support.waiting import until
from worker.upkeep import bring_episodes, keep_up, keep_watching

NOW = datetime.now(UTC)


def episode(name: str, at: datetime = NOW) -> Episode:
    return Episode(id=name, kind=EpisodeKind.TOOL, text=name, importance=0.5, at=at)


async def test_waiting_episodes_are_brought_when_redis_is_back(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS)
    redis = connect(fleet.addresses.redis_url)
    spool, episodes = Spool(tmp_path), Episodes(redis)
    for kept in (episode("one"), episode("two"), episode("too old", NOW - timedelta(hours=25))):
        await spool.append(tenant, "s", kept)
    await fleet.stop(Server.REDIS)
    waiting = SessionNotes(episodes, spool).waiting
    task = asyncio.create_task(keep_up([], spool, episodes, RedisErasures(redis), waiting))
    await fleet.start(Server.REDIS)
    await until(lambda: episodes.recent(tenant, "s", 10), lambda found: {one.id for one in found} == {"one", "two"})
    await until(spool.tenants, lambda waiting: not waiting)
    task.cancel()
    assert await bring_episodes(spool, episodes, RedisErasures(redis), now=NOW) == 0, "not brought again"
    await redis.aclose()


async def test_what_waited_on_another_machine_while_its_user_was_erased_is_dropped(
    servers: Servers, tmp_path: Path, tenant: str
) -> None:
    redis, spool = connect(servers.redis_url), Spool(tmp_path)
    episodes, erasures = Episodes(redis), RedisErasures(redis)
    await spool.append(tenant, "s", episode("before"))
    await spool.append(tenant, "s", episode("after", NOW + timedelta(seconds=2)))
    await erasures.add(Erasure(tenant=tenant, epoch=1, at=NOW + timedelta(seconds=1), operation="erase"))
    assert await bring_episodes(spool, episodes, erasures, now=NOW) == 1
    assert [one.id for one in await episodes.recent(tenant, "s", 10)] == ["after"]
    assert await spool.tenants() == []
    await redis.aclose()


@pytest.mark.slow
async def test_a_worker_with_another_journal_stops_when_redis_is_back(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    redis, key = connect(fleet.addresses.redis_url), TenantKey(TENANT_KEY)
    longterm = LongTerm(
        fleet.addresses.weaviate_url,
        fleet.addresses.weaviate_grpc_port,
        embedding=Embedding(name="none", dimension=1),
        api_key=fleet.addresses.weaviate_api_key,
    )

    def whole(folder: str) -> Wholeness:
        return Wholeness(JournalMarks(tmp_path / folder), RedisMarks(redis), longterm.marks)

    async def begin_other() -> None:
        await whole("other").begin(key)

    (shared, _), (other, _) = [await JournalMarks(tmp_path / name).begin("") for name in ("shared", "other")]
    await whole("shared").begin(key)
    await whole("shared").begin(key)
    await fleet.stop(Server.REDIS)
    await fleet.stop(Server.WEAVIATE)
    spool = Spool(tmp_path / "spool")
    task = asyncio.create_task(keep_up([begin_other], spool, Episodes(redis), RedisErasures(redis), asyncio.Event()))
    await fleet.start(Server.REDIS)
    await fleet.start(Server.WEAVIATE)
    with pytest.raises(JournalMismatch) as refused:
        await asyncio.wait_for(task, 20)
    for named in (shared, other, str(tmp_path / "other"), "PERDURE_JOURNAL"):
        assert named in str(refused.value)
    await longterm.close()
    await redis.aclose()


async def test_what_was_written_is_checked_once_weaviate_is_back(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with open_stores(fleet.addresses, tmp_path) as stores:
        await stores.repair.note(tenant)
        assert await stores.checks.claim(datetime.now(UTC)) is None, "the control: it is not due for minutes"
        task = asyncio.create_task(keep_watching(stores.longterm, stores.checks, stores.whole))
        await fleet.stop(Server.WEAVIATE)
        await fleet.start(Server.WEAVIATE)
        assert await until(lambda: stores.checks.claim(datetime.now(UTC)), bool) == tenant
        assert await stores.checks.pending(datetime.now(UTC)) == 1
        task.cancel()
