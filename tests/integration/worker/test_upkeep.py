"""Episodes that waited in the spool reach Redis once it is back, each once; a worker that does not belong stops."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from activities.episodes import SessionWriter
from localservers import Server
from perdure.agent.steps.values import Values
from perdure.errors import JournalMismatch
from perdure.memory.audit.audit import Audit
from perdure.memory.consent_book import ConsentBook
from perdure.memory.wholeness import Wholeness
from perdure.memory.write_policies import WritePolicy
from perdure.settings import Addresses
from perdure.stores import disk
from perdure.stores.audit.files import FOLDER
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis import keys
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.redis.outputs import Outputs
from perdure.stores.spool import Spool
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Purpose
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.erasures import Erasure
from tests.conftest import TENANT_KEY, OwnServers, Servers
from tests.integration.conftest import Stores, open_stores
from tests.integration.memory.forgetting.test_forgetter import LATER, passing, write
from tests.support.broken_entries import lose_vector
from tests.support.waiting import until
from worker import upkeep
from worker.upkeep import bring_episodes, keep_up, keep_watching

NOW = datetime.now(UTC)


def episode(name: str, at: datetime = NOW) -> Episode:
    return Episode(id=name, kind=EpisodeKind.TOOL, text=name, importance=0.5, at=at)


def consents_of(addresses: Addresses, redis: Redis, folder: Path) -> ConsentBook:
    key, journal = TenantKey(TENANT_KEY), folder / "consents"
    marks = longterm_of(addresses).marks
    audit = Audit(journal / FOLDER, key, AuditHeads(redis))
    whole = Wholeness(JournalMarks(journal), RedisMarks(redis), marks)
    return ConsentBook(RedisConsents(redis), Journal(journal), Leases(redis), whole, audit)


def longterm_of(addresses: Addresses) -> LongTerm:
    return LongTerm(
        addresses.weaviate_url,
        addresses.weaviate_grpc_port,
        embedding=Embedding(name="none", dimension=1),
        api_key=addresses.weaviate_api_key,
    )


def session_writer(episodes: Episodes, spool: Spool, consents: ConsentBook) -> SessionWriter:
    values = Values(Outputs(connect("redis://127.0.0.1:1"), timedelta(days=1)))
    return SessionWriter(episodes, spool, consents, values=values, policy=WritePolicy())


@pytest.mark.slow
async def test_waiting_episodes_are_brought_when_redis_is_back(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS)
    redis = connect(fleet.addresses.redis_url)
    spool, episodes = Spool(tmp_path, ErasureLog(tmp_path / "journal")), Episodes(redis)
    for kept in (episode("one"), episode("two"), episode("too old", NOW - timedelta(hours=25))):
        await spool.append(tenant, "s", kept)
    await fleet.stop(Server.REDIS)
    consents = consents_of(fleet.addresses, redis, tmp_path)
    waiting = session_writer(episodes, spool, consents).waiting

    async def bring() -> int:
        return await bring_episodes(spool, episodes, RedisErasures(redis), consents, now=NOW)

    task = asyncio.create_task(keep_up([], bring, waiting))
    await fleet.start(Server.REDIS)
    await until(
        lambda: episodes.told(tenant, "s", recent=10), lambda found: {one.id for one in found} == {"one", "two"}
    )
    await until(spool.tenants, lambda waiting: not waiting)
    task.cancel()
    assert await bring() == 0, "not brought again"
    await redis.aclose()


async def test_what_a_cancelled_activity_leaves_in_the_spool_is_brought(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool, away = Spool(tmp_path / "spool", ErasureLog(tmp_path / "journal")), connect("redis://127.0.0.1:1")
    writer = session_writer(Episodes(away), spool, consents_of(servers, away, tmp_path))
    append, begun, go = disk.append, threading.Event(), threading.Event()

    def slow(path: Path, content: bytes) -> None:
        begun.set()
        go.wait(20)
        append(path, content)

    monkeypatch.setattr(disk, "append", slow)
    writing = asyncio.create_task(writer.write("t_1", "s", [episode("one")]))
    assert await asyncio.to_thread(begun.wait, 20)
    writing.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert writer.waiting.is_set()
    assert await spool.tenants() == ["t_1"]
    await away.aclose()


async def test_what_waited_on_another_machine_while_its_user_was_erased_is_dropped(
    servers: Servers, tmp_path: Path, tenant: str
) -> None:
    redis, spool = connect(servers.redis_url), Spool(tmp_path, ErasureLog(tmp_path / "journal"))
    episodes, erasures = Episodes(redis), RedisErasures(redis)
    await spool.append(tenant, "s", episode("before"))
    await spool.append(tenant, "s", episode("after", NOW + timedelta(seconds=2)))
    await spool.append(tenant, "s", episode("late", NOW + timedelta(seconds=2)), epoch=0)
    await erasures.add(Erasure(tenant=tenant, epoch=1, at=NOW + timedelta(seconds=1), operation="erase"))
    assert await bring_episodes(spool, episodes, erasures, consents_of(servers, redis, tmp_path), now=NOW) == 1
    assert [one.id for one in await episodes.told(tenant, "s", recent=10)] == ["after"]
    assert await spool.tenants() == []
    await redis.aclose()


async def test_what_waited_while_its_user_withdrew_their_consent_is_dropped(stores: Stores, tmp_path: Path) -> None:
    spool, episodes, erasures = (
        Spool(tmp_path, ErasureLog(tmp_path / "journal")),
        Episodes(stores.redis),
        RedisErasures(stores.redis),
    )
    consents = ConsentBook(RedisConsents(stores.redis), stores.journal, stores.leases, stores.whole, stores.audit)
    by, tenants = Actor(kind=ActorKind.SYSTEM), [f"t_{uuid4().hex}" for _ in range(2)]
    for tenant in tenants:
        await spool.append(tenant, "s", episode("one"))
    await consents.say(tenants[0], grant=[], withdraw=[Purpose.GIVEN], operation="consent", by=by, at=NOW)
    assert await bring_episodes(spool, episodes, erasures, consents, now=NOW) == 1
    assert await episodes.told(tenants[0], "s", recent=10) == []
    assert len(await episodes.told(tenants[1], "s", recent=10)) == 1, "the control"


@pytest.mark.slow
async def test_a_worker_with_another_journal_stops_when_redis_is_back(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    redis, key = connect(fleet.addresses.redis_url), TenantKey(TENANT_KEY)
    longterm = longterm_of(fleet.addresses)

    def whole(folder: str) -> Wholeness:
        return Wholeness(JournalMarks(tmp_path / folder), RedisMarks(redis), longterm.marks)

    async def begin_other() -> None:
        await whole("other").begin(key)

    (shared, _), (other, _) = [await JournalMarks(tmp_path / name).begin("") for name in ("shared", "other")]
    await whole("shared").begin(key)
    await whole("shared").begin(key)
    await fleet.stop(Server.REDIS)
    await fleet.stop(Server.WEAVIATE)
    spool = Spool(tmp_path / "spool", ErasureLog(tmp_path / "journal"))
    consents = consents_of(fleet.addresses, redis, tmp_path)
    erasures, episodes = RedisErasures(redis), Episodes(redis)
    task = asyncio.create_task(
        keep_up([begin_other], lambda: bring_episodes(spool, episodes, erasures, consents, now=NOW), asyncio.Event())
    )
    await fleet.start(Server.REDIS)
    await fleet.start(Server.WEAVIATE)
    with pytest.raises(JournalMismatch) as refused:
        await asyncio.wait_for(task, 20)
    for named in (shared, other, str(tmp_path / "other"), "PERDURE_JOURNAL"):
        assert named in str(refused.value)
    await longterm.close()
    await redis.aclose()


@pytest.mark.slow
async def test_what_was_written_is_checked_once_weaviate_is_back(
    own_servers: OwnServers, tmp_path: Path, tenant: str
) -> None:
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with open_stores(fleet.addresses, tmp_path) as stores:
        await stores.repair.add(tenant)
        assert await stores.checks.claim(datetime.now(UTC)) is None, "the control: it is not due for minutes"
        task = asyncio.create_task(keep_watching(stores.longterm, stores.checks, stores.whole))
        await fleet.stop(Server.WEAVIATE)
        await fleet.start(Server.WEAVIATE)
        assert await until(lambda: stores.checks.claim(datetime.now(UTC)), bool) == tenant
        assert await stores.checks.pending(datetime.now(UTC)) == 1
        task.cancel()


async def test_what_was_written_is_checked_where_no_worker_saw_weaviate_restart(
    servers: Servers, tmp_path: Path, tenant: str
) -> None:
    redis = connect(servers.redis_url)

    async def due_in() -> float:
        due: str = await ask(redis, "ZSCORE", keys.CHECKS, tenant)
        return float(due) - datetime.now(UTC).timestamp()

    async with open_stores(servers, tmp_path) as stores:
        await stores.repair.add(tenant)
        assert await due_in() > 60, "the control: it is not due for minutes"
        task = asyncio.create_task(keep_watching(stores.longterm, stores.checks, stores.whole))
        await until(due_in, lambda seconds: seconds <= 0)
        task.cancel()
    await redis.aclose()


@pytest.mark.slow
async def test_a_check_that_meets_an_entry_that_cannot_be_read_goes_on_with_the_next_user(
    own_servers: OwnServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHECK_EVERY", 0.05)
    fleet = await own_servers(Server.REDIS, Server.WEAVIATE)
    async with open_stores(fleet.addresses, tmp_path) as own:
        first, second = f"t_{uuid4().hex}", f"t_{uuid4().hex}"
        for tenant, hours in ((first, 2), (second, 1)):
            await write(own, tenant, passing("kept", "o3", at=LATER))
            [entry] = (await own.longterm.everything(tenant)).values()
            await lose_vector(own, tenant, entry, readable=tenant == second)
            assert await own.longterm.unsearchable(tenant) == [entry.id]
            await own.checks.add(tenant, NOW - timedelta(hours=hours))
        task = asyncio.create_task(upkeep.keep_checked(own.repair))
        await until(lambda: own.longterm.unsearchable(second), lambda found: found == [])
        assert not task.done()
        assert len(await own.longterm.unsearchable(first)) == 1, "the control: it was looked at first, and is as it was"
        assert await own.checks.pending(datetime.now(UTC)) > 0, "it is looked at again"
        task.cancel()
