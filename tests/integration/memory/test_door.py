"""The one door: a writer that slept past its lease does not overwrite who came after it."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis import Redis as SyncRedis
from redis.asyncio import Redis

from perdure.changes import Actor, ActorKind, Change
from perdure.entries import MARKER, Entry, Lane, Record
from perdure.errors import LeaseLost
from perdure.memory.door import Door
from perdure.memory.retention import RetentionRules
from perdure.stores.journal.log import Journal
from perdure.stores.redis import keys
from perdure.stores.redis.connection import connect
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.leases import Lease, Leases
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from tests.conftest import Servers
from tests.support.hashing import HashingEmbedder

NOW = datetime(2026, 5, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder()


def entry(run: str) -> Record:
    return Record(
        id="exec_1",
        text=f"pattern k\n{MARKER}1",
        lane=Lane.PATTERN,
        key="k",
        payload=1,
        run=run,
        first_seen=NOW,
        last_seen=NOW,
    )


def opened(servers: Servers, kind: type[LongTerm] = LongTerm) -> LongTerm:
    return kind(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=Embedding(name=EMBEDDER.name, dimension=EMBEDDER.dimension),
        api_key=servers.weaviate_api_key.get_secret_value() if servers.weaviate_api_key else None,
        prefix="PerdureDoor",
    )


def door_of(redis: Redis, longterm: LongTerm, folder: Path) -> Door:
    return Door(
        longterm=longterm,
        journal=Journal(folder),
        deletions=Deletions(redis),
        leases=Leases(redis, seconds=1.0, patience=5.0),
        due=DueIndex(redis),
        rules=RetentionRules(),
        client_timeout=0.2,
    )


class Sleeping(LongTerm):
    """Blocks the whole event loop before it writes, as a suspended process is blocked."""

    wake: threading.Event

    async def get(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        found = await super().get(tenant, ids)
        self.wake.wait(20)
        return found


async def write(
    servers: Servers, tenant: str, run: str, folder: Path, *, before_writing: threading.Event | None = None
) -> None:
    """Write one record through a door of its own, as another process would."""
    redis = connect(servers.redis_url)
    longterm = opened(servers, Sleeping if before_writing else LongTerm)
    if isinstance(longterm, Sleeping) and before_writing:
        longterm.wake = before_writing
    [vector] = await EMBEDDER.embed(["x"])
    change = Change(
        id="exec_1", expected=0, entry=entry(run), vector=vector, by=Actor(kind=ActorKind.SYSTEM), why="", operation=run
    )
    try:
        await door_of(redis, longterm, folder).change(tenant, [change])
    finally:
        await longterm.close()
        await redis.aclose()


async def read(servers: Servers, tenant: str) -> str:
    longterm = opened(servers)
    await longterm.prepare()
    [stored] = (await longterm.get(tenant, ["exec_1"])).values()
    await longterm.close()
    assert isinstance(stored, Record)
    return stored.run


def _until_leased(servers: Servers, tenant: str) -> None:
    with SyncRedis.from_url(servers.redis_url) as redis:
        while not redis.exists(keys.lease(tenant)):
            pass


@pytest.mark.parametrize("protected", [True, False], ids=["lease", "control"])
async def test_a_writer_that_slept_past_its_lease(
    servers: Servers, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    if not protected:

        async def trusting(self: Lease, seconds: float) -> None:
            return

        monkeypatch.setattr(Lease, "require", trusting)
    wake = threading.Event()
    outcome: list[BaseException | None] = []

    def sleeper() -> None:
        try:
            asyncio.run(write(servers, tenant, "sleeper", tmp_path, before_writing=wake))
            outcome.append(None)
        except LeaseLost as error:
            outcome.append(error)

    thread = threading.Thread(target=sleeper)
    thread.start()
    await asyncio.to_thread(_until_leased, servers, tenant)
    await write(servers, tenant, "second", tmp_path)
    wake.set()
    await asyncio.to_thread(thread.join)
    assert isinstance(outcome[0], LeaseLost) == protected
    assert await read(servers, tenant) == ("second" if protected else "sleeper")


async def test_whoever_slept_past_the_lease_does_not_erase_what_became_due(
    servers: Servers, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis, longterm = connect(servers.redis_url), opened(servers)
    due, moment = DueIndex(redis), datetime(2000, 1, 1, tzinfo=UTC)
    door = door_of(redis, longterm, tmp_path)
    read = LongTerm.next_due

    async def read_and_sleep(self: LongTerm, tenant: str) -> datetime | None:
        found = await read(self, tenant)
        await redis.delete(keys.lease(tenant))
        await due.lower(tenant, moment)
        return found

    monkeypatch.setattr(LongTerm, "next_due", read_and_sleep)
    try:
        with pytest.raises(LeaseLost):
            await door.reindex(tenant)
        assert await due.next(tenant) == moment
    finally:
        await due.set(tenant, None)
        await longterm.close()
        await redis.aclose()
