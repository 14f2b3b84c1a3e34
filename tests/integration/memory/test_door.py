"""The one door: every change has an author and a reason, and none crosses a lost lease or an erasure."""

import asyncio
import contextlib
import dataclasses
import os
import threading
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from perdure.errors import LeaseLost, PerdureError, StoreUnavailable, TenantErased, VersionConflict
from perdure.memory.audit.audit import Audit
from perdure.memory.door import Door
from perdure.memory.repair import Repair
from perdure.memory.retention import RetentionRules
from perdure.memory.wholeness import Wholeness
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.refusals import ContentRefused
from perdure.stores.audit.files import FOLDER
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis import keys
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.leases import Lease, Leases
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.stores.weaviate.writes import Fence, Writes, never
from perdure.values.changes import Actor, ActorKind, Change
from perdure.values.entries import MARKER, Entry, Lane, Memory, MemoryType, Record, Source
from tests.conftest import HOME_VARIABLE, TENANT_KEY, Servers
from tests.integration.conftest import Stores, audited
from tests.support.standing_still import stand_still_before
from tests.support.waiting import until

NOW = datetime(2026, 5, 1, tzinfo=UTC)
EMBEDDER = MiniLMEmbedder()
BY = Actor(kind=ActorKind.SYSTEM)


def entry(task: str) -> Record:
    return Record(
        id="exec_1",
        text=f"pattern k\n{MARKER}1",
        lane=Lane.PATTERN,
        key="k",
        payload=1,
        task=task,
        first_seen=NOW,
        last_seen=NOW,
    )


def opened(servers: Servers, kind: type[LongTerm] = LongTerm, *, write_timeout: float = 10) -> LongTerm:
    return kind(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=Embedding(name=EMBEDDER.name, dimension=EMBEDDER.dimension),
        api_key=servers.weaviate_api_key,
        write_timeout=write_timeout,
    )


@pytest.fixture(scope="module", autouse=True)
async def prepared(servers: Servers) -> None:
    longterm, redis = opened(servers), connect(servers.redis_url)
    await longterm.prepare()
    await whole_of(redis, longterm).begin(TenantKey(TENANT_KEY))
    await longterm.close()
    await redis.aclose()


def whole_of(redis: Redis, longterm: LongTerm) -> Wholeness:
    """Return the marks of the test run's installation."""
    folder = Path(os.environ[HOME_VARIABLE]) / "shared-journal"
    return Wholeness(JournalMarks(folder), RedisMarks(redis), longterm.marks)


@contextlib.asynccontextmanager
async def door_of(redis: Redis, longterm: LongTerm, folder: Path) -> AsyncGenerator[Door]:
    leases, journal = Leases(redis, seconds=1.0, patience=5.0), Journal(folder)
    audit = Audit(Path(os.environ[HOME_VARIABLE]) / "shared-journal" / FOLDER, TenantKey(TENANT_KEY), AuditHeads(redis))
    door = Door(
        longterm=longterm,
        journal=journal,
        deletions=Deletions(redis),
        leases=leases,
        due=DueIndex(redis),
        repair=Repair(
            longterm=longterm,
            embedder=EMBEDDER,
            journal=journal,
            leases=leases,
            checks=Checks(redis),
            due=DueIndex(redis),
            client_timeout=0.2,
        ),
        whole=whole_of(redis, longterm),
        rules=RetentionRules(),
        client_timeout=0.2,
        audit=audit,
    )
    try:
        yield door
    finally:
        await audit.close()


class Sleeping(LongTerm):
    """Blocks the whole event loop before it writes, as a suspended process is blocked."""

    wake: threading.Event

    async def stored(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        found = await super().stored(tenant, ids)
        self.wake.wait(20)
        return found


async def write(
    servers: Servers, tenant: str, task: str, folder: Path, *, before_writing: threading.Event | None = None
) -> None:
    """Write one record through a door of its own, as another process would."""
    redis = connect(servers.redis_url)
    longterm = opened(servers, Sleeping if before_writing else LongTerm)
    if isinstance(longterm, Sleeping) and before_writing:
        longterm.wake = before_writing
    [vector] = await EMBEDDER.embed(["x"])
    change = Change(
        id="exec_1",
        expected=0,
        entry=entry(task),
        vector=vector,
        by=Actor(kind=ActorKind.SYSTEM),
        why="",
        operation=task,
    )
    try:
        async with door_of(redis, longterm, folder) as door:
            await door.change(tenant, [change])
    finally:
        await longterm.close()
        await redis.aclose()


async def written_at_last(servers: Servers, tenant: str, task: str, folder: Path) -> None:
    """Write one record as an activity does: again, where a busy machine took too much of the lease's time."""
    for attempt in range(20):
        try:
            return await write(servers, tenant, task, folder)
        except LeaseLost:
            if attempt == 19:
                raise
    return None


async def read(servers: Servers, tenant: str) -> str:
    longterm = opened(servers)
    await longterm.prepare()
    [stored] = (await longterm.get(tenant, ["exec_1"])).values()
    await longterm.close()
    assert isinstance(stored, Record)
    return stored.task


async def _until_leased(servers: Servers, tenant: str) -> None:
    redis = connect(servers.redis_url)
    await until(lambda: ask(redis, "EXISTS", keys.lease(tenant)), bool)
    await redis.aclose()


@pytest.mark.parametrize("protected", [True, False], ids=["lease", "control"])
async def test_a_writer_that_slept_past_its_lease(
    servers: Servers, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    if not protected:

        async def trusting(self: Lease, seconds: float) -> Fence:
            return never

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
    await _until_leased(servers, tenant)
    await written_at_last(servers, tenant, "second", tmp_path)
    wake.set()
    await asyncio.to_thread(thread.join)
    assert isinstance(outcome[0], LeaseLost) == protected
    assert await read(servers, tenant) == ("second" if protected else "sleeper")


@pytest.mark.parametrize("protected", [True, False], ids=["fence", "control"])
async def test_a_writer_that_sleeps_between_its_last_look_at_the_lease_and_its_write_writes_nothing(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    stand_still_before(monkeypatch, "put", fenced=protected)
    [vector] = await EMBEDDER.embed(["x"])
    change = Change(id="exec_1", expected=0, entry=entry("first"), vector=vector, by=BY, why="", operation="first")
    if protected:
        with pytest.raises(LeaseLost, match="too late for the lease"):
            await stores.door.change(tenant, [change])
    else:
        await stores.door.change(tenant, [change])
    assert bool(await stores.longterm.get(tenant, ["exec_1"])) is not protected


@pytest.mark.parametrize("protected", [True, False], ids=["fence", "control"])
async def test_a_purge_that_sleeps_between_its_last_look_at_the_lease_and_its_deletion_removes_nothing(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    first = await change(stores, 1, BY, "first")
    await stores.door.change(tenant, [dataclasses.replace(first, entry=believed(1).forgotten("too old", NOW))])
    stand_still_before(monkeypatch, "delete", fenced=protected)
    with pytest.raises(LeaseLost) if protected else contextlib.nullcontext():
        await stores.door.remove(tenant, {"mem_1": 1}, at=NOW, operation="purge", by=BY, why="too old")
    assert bool(await stores.longterm.get(tenant, ["mem_1"])) is protected


@pytest.mark.parametrize("protected", [True, False], ids=["lease", "control"])
async def test_a_write_that_lands_after_its_time_limit_overwrites_nobody(
    servers: Servers, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    insert, overtaken = Writes._insert, asyncio.Event()  # pyright: ignore[reportPrivateUsage]
    patience = 0.3 if protected else 5.0  # It is cut off after twice that time.

    async def slow(
        self: Writes, collection: Any, tenant: str, entries: Sequence[Entry], vectors: Any, fence: Fence
    ) -> dict[str, str]:
        if entries[0].operations == ("first",):
            # The store's delay: the writer gives up before.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(overtaken.wait(), 0.5 if protected else 9.0)
        # In the control, neither the lease nor the moment up to which a write may be sent protects.
        return await insert(self, collection, tenant, entries, vectors, fence if protected else never)

    monkeypatch.setattr(Writes, "_insert", slow)
    redis, longterm = connect(servers.redis_url), opened(servers, write_timeout=patience)
    [vector] = await EMBEDDER.embed(["x"])
    change = Change(id="exec_1", expected=0, entry=entry("first"), vector=vector, by=BY, why="", operation="first")
    await longterm.open()
    try:
        async with door_of(redis, longterm, tmp_path) as door:
            with pytest.raises(StoreUnavailable):
                await door.change(tenant, [change])
        if protected:
            with pytest.raises(VersionConflict):
                await write(servers, tenant, "second", tmp_path)
        else:
            client: Any = redis
            await client.delete(keys.lease(tenant))
            await write(servers, tenant, "second", tmp_path)
            overtaken.set()
    finally:
        await longterm.close()
        await redis.aclose()
    assert await read(servers, tenant) == "first", "in the control, whoever wrote second was told so, and is lost"


async def test_a_lease_is_given_back_after_a_clean_end_only(servers: Servers, tenant: str) -> None:
    client: Any = connect(servers.redis_url)
    leases = Leases(client, seconds=30)

    async def ended_with(error: BaseException | None) -> bool:
        """Return whether the lease is given back."""
        with contextlib.suppress(PerdureError, asyncio.CancelledError):
            async with leases.hold(tenant):
                if error:
                    raise error
        return await client.delete(keys.lease(tenant)) == 0

    for clean in (None, VersionConflict("x"), ContentRefused({"x": "too long"}), TenantErased("x"), LeaseLost("x")):
        assert await ended_with(clean), clean
    for cut in (StoreUnavailable("weaviate", "x"), asyncio.CancelledError()):
        assert not await ended_with(cut), cut
    await client.aclose()


async def test_whoever_slept_past_the_lease_does_not_erase_what_became_due(
    servers: Servers, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis, longterm = connect(servers.redis_url), opened(servers)
    due, moment = DueIndex(redis), datetime(2000, 1, 1, tzinfo=UTC)
    read = LongTerm.next_due

    async def read_and_sleep(self: LongTerm, tenant: str) -> datetime | None:
        found = await read(self, tenant)
        await redis.delete(keys.lease(tenant))
        await due.lower(tenant, moment)
        return found

    monkeypatch.setattr(LongTerm, "next_due", read_and_sleep)
    try:
        async with door_of(redis, longterm, tmp_path) as door:
            with pytest.raises(LeaseLost):
                await door.reindex(tenant)
        assert await due.next(tenant) == moment
    finally:
        await due.set(tenant, None)
        await longterm.close()
        await redis.aclose()


def believed(version: int, text: str = "The lead is Kim.") -> Memory:
    return Memory(
        id="mem_1",
        text=text,
        memory_type=MemoryType.FACT,
        source=Source.EXPLICIT,
        first_seen=NOW,
        last_seen=NOW + timedelta(days=version),
    )


async def change(stores: Stores, version: int, by: Actor, why: str) -> Change:
    [vector] = await stores.embedder.embed(["The lead is Kim."])
    return Change(
        id="mem_1",
        expected=version - 1,
        entry=believed(version),
        vector=vector,
        by=by,
        why=why,
        operation=f"operation {version}",
    )


def told_of(servers: Servers, folder: Path, tenant: str) -> list[tuple[object, ...]]:
    """Return what the audit says of a tenant."""
    return [(line.ids, line.operation, line.by) for line in audited(servers, folder, tenant)]


async def test_a_change_is_told_with_its_author_and_reason(
    stores: Stores, servers: Servers, tmp_path: Path, tenant: str
) -> None:
    agent, ada = Actor(kind=ActorKind.AGENT, id="task-1"), Actor(kind=ActorKind.PERSON, id="ada")
    for version, by, why in ((1, agent, "insert"), (2, ada, "corrected")):
        one = await change(stores, version, by, why)
        assert await stores.door.change(tenant, [one]) == {"mem_1": version}
    told = await stores.journal.history(tenant, "mem_1")
    assert [(line.entry.version, line.by, line.why) for line in told] == [(1, agent, "insert"), (2, ada, "corrected")]
    assert told_of(servers, tmp_path, tenant) == [
        ({"insert": ("mem_1",)}, "operation 1", agent),
        ({"corrected": ("mem_1",)}, "operation 2", ada.changed(id=TenantKey(TENANT_KEY).tenant_of("ada"))),
    ]
    assert not any(b"Kim" in file.read_bytes() for file in (stores.journal.folder / FOLDER).iterdir())


@pytest.mark.slow
async def test_a_change_whose_first_attempt_died_is_told_by_the_next(
    stores: Stores, servers: Servers, tmp_path: Path, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    by, lower = Actor(kind=ActorKind.AGENT, id="task-1"), DueIndex.lower

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("redis", "gone")

    one = await change(stores, 1, by, "insert")
    one = dataclasses.replace(one, entry=one.entry.changed(valid_until=NOW + timedelta(days=9)))
    monkeypatch.setattr(DueIndex, "lower", away)
    with pytest.raises(StoreUnavailable):
        await stores.door.change(tenant, [one])
    assert told_of(servers, tmp_path, tenant) == []
    monkeypatch.setattr(DueIndex, "lower", lower)
    assert await stores.door.change(tenant, [one]) == {"mem_1": 1}, "once, however often"
    assert told_of(servers, tmp_path, tenant) == [({"insert": ("mem_1",)}, "operation 1", by)]
    assert len(await stores.journal.history(tenant, "mem_1")) == 1


async def test_what_is_stored_already_is_only_checked(stores: Stores, tenant: str) -> None:
    by = Actor(kind=ActorKind.SYSTEM)
    await stores.door.change(tenant, [await change(stores, 1, by, "first")])
    [stored] = (await stores.longterm.get(tenant, ["mem_1"])).values()
    same = Change(id="mem_1", expected=1, entry=stored, by=by, why="again", operation="other")
    assert await stores.door.change(tenant, [same]) == {"mem_1": 1}
    assert len(await stores.journal.history(tenant, "mem_1")) == 1
    with pytest.raises(VersionConflict):
        await stores.door.change(tenant, [dataclasses.replace(same, expected=0)])


async def test_what_was_accepted_before_an_erasure_is_refused(stores: Stores, tenant: str) -> None:
    one = await change(stores, 1, Actor(kind=ActorKind.AGENT), "insert")
    before = await stores.door.epoch(tenant)
    client: Any = stores.redis
    await client.incr(keys.epoch(tenant))
    with pytest.raises(TenantErased):
        await stores.door.change(tenant, [one], epoch=before)
    assert await stores.longterm.get(tenant, ["mem_1"]) == {}
    assert await stores.journal.read(tenant) == []
    # The control: what is accepted after it is written.
    assert await stores.door.change(tenant, [one], epoch=await stores.door.epoch(tenant)) == {"mem_1": 1}


@pytest.mark.slow
async def test_a_purge_that_a_crash_cut_off_is_ended_by_its_retry(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = Actor(kind=ActorKind.SCHEDULE)
    gone = believed(1).forgotten("too old", NOW)
    first = await change(stores, 1, by, "first")
    await stores.door.change(tenant, [dataclasses.replace(first, entry=gone)])

    async def crash(self: Journal, *_: object, **__: object) -> None:
        raise StoreUnavailable("journal", "the process died")

    async def purge() -> list[str]:
        return await stores.door.remove(tenant, {"mem_1": 1}, at=NOW, operation="purge", by=by, why="too old")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "drop", crash)
        with pytest.raises(StoreUnavailable):
            await purge()
    assert await stores.longterm.get(tenant, ["mem_1"]) == {}
    assert b"Kim" in _on_disk(stores, tenant), "the control"
    assert await purge() == ["mem_1"]
    assert b"Kim" not in _on_disk(stores, tenant)


def _on_disk(stores: Stores, tenant: str) -> bytes:
    return b"".join(file.read_bytes() for file in (stores.journal.folder / tenant).glob("*"))
