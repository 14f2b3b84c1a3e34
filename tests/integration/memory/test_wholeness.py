"""The marks by which a lost store is known: counted by every process, written anew with a store that was rebuilt."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from localservers import Fleet, Server
from perdure.errors import StoreLost, StoreUnavailable
from perdure.memory.wholeness import IDLE, Wholeness
from perdure.stores.disk import LOCK
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.tenant_key import TenantKey
from perdure.values.losses import Loss, LossKind, Mark, Store
from tests.conftest import TENANT_KEY, Servers
from tests.deployment import deployment
from tests.integration.conftest import Stores
from tests.integration.memory.forgetting.test_forgetter import LATER, passing, write
from tests.integration.memory.reconciliation.test_losses import BY, copied, fill, rebuild, refused, remembered


def beside(own: Stores) -> Wholeness:
    """Return another process's view of the stores."""
    return Wholeness(JournalMarks(own.journal.folder), RedisMarks(own.redis), own.longterm.marks)


async def rest(own: Stores, *, ends: bool) -> None:
    """Have all processes write nothing more: they end, or have written nothing for long."""
    if ends:
        await own.whole.end()
        return
    for path in (own.journal.folder / ".marks").iterdir():
        if path.name != LOCK:
            os.utime(path, (1, 1))


@pytest.mark.slow
@pytest.mark.parametrize("goes_on", [True, False], ids=["the process claims again", "it waits"])
async def test_redis_is_an_older_copy_that_lacks_a_claim_alone(
    own: Stores, fleet: Fleet, tenant: str, tmp_path: Path, goes_on: bool
) -> None:
    await write(own, tenant, passing("kept", "o3", at=LATER))
    await own.whole.claimed()
    restore = await copied(fleet, Server.REDIS, tmp_path / "copy")
    # The control: this copy has every claim.
    await fleet.stop(Server.REDIS)
    restore()
    await fleet.start(Server.REDIS)
    assert await own.whole.compare() == ()

    await own.whole.claimed()
    await fleet.stop(Server.REDIS)
    restore()
    await fleet.start(Server.REDIS)
    if goes_on:
        await own.whole.claimed()
    assert await own.whole.compare() == (Loss(Store.REDIS, LossKind.OLDER),)
    assert await own.whole.redis_since() is None
    await rebuild(own, tenant)
    await own.whole.claimed()
    assert await own.whole.compare() == ()


@pytest.mark.slow
async def test_a_claim_that_is_counted_as_redis_is_restored_is_not_taken_back(
    own: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = beside(own)
    await other.claimed()
    async with own.whole.writing():
        pass
    await ask(own.redis, "FLUSHALL")
    found = await own.whole.compare()
    tokens = await own.whole.rebuilding(found)
    restore = RedisMarks.restore

    async def late(marks: RedisMarks, journal: str, known: Mapping[str, Mark]) -> None:
        [writer] = [name for name, mark in known.items() if mark.claimed]
        # Another process that Redis knows of already, and that has gone on.
        await marks.claimed(writer, known[writer].claimed + 1, after=0)
        await restore(marks, journal, known)

    monkeypatch.setattr(RedisMarks, "restore", late)
    assert await own.whole.rebuilt(found, tokens)
    told = (await RedisMarks(own.redis).told()).marks
    assert max(mark.claimed for mark in told.values()) == 2
    assert await own.whole.compare() == ()


@pytest.mark.slow
async def test_a_process_that_writes_nothing_for_long_leaves_no_marks(own: Stores) -> None:
    key = TenantKey(TENANT_KEY)
    resting = beside(own)
    async with resting.writing():
        pass
    [mark] = [path for path in (own.journal.folder / ".marks").iterdir() if path.name != LOCK]
    await own.whole.begin(key)
    assert mark.name in (await RedisMarks(own.redis).told()).marks, "the control: it wrote a moment ago"

    os.utime(mark, (1, 1))
    await own.whole.begin(key)
    for store in (RedisMarks(own.redis), own.longterm.marks):
        [newer] = (await store.told()).marks
        assert newer != mark.name
    async with resting.writing():
        pass
    assert await own.whole.compare() == ()
    assert len({newer, mark.name, *(await RedisMarks(own.redis).told()).marks}) == 3

    assert not mark.exists(), "files do not grow in number either"
    told = await JournalMarks(own.journal.folder).told()
    await RedisMarks(own.redis).restore(told.journal or "", {mark.name: Mark(1, 1)})
    assert await own.whole.compare() == (), "what still knows it is no newer than the journal"
    mark.with_name("removed").write_bytes(b"")
    assert await own.whole.compare() == (Loss(Store.JOURNAL, LossKind.OLDER),), "the control"


@pytest.mark.slow
async def test_a_process_that_ended_leaves_no_marks_once_another_has_made_one(own: Stores) -> None:
    ended, key = beside(own), TenantKey(TENANT_KEY)
    async with ended.writing():
        pass
    [writer] = (await RedisMarks(own.redis).told()).marks
    await own.whole.begin(key)
    assert writer in (await RedisMarks(own.redis).told()).marks, "the control: it has not ended"
    await ended.end()
    await own.whole.begin(key)
    for store in (JournalMarks(own.journal.folder), RedisMarks(own.redis), own.longterm.marks):
        [newer] = (await store.told()).marks
        assert newer != writer
    async with ended.writing():
        pass
    assert len((await RedisMarks(own.redis).told()).marks) == 2, "what it does late all the same is another's"
    assert await own.whole.compare() == ()


@pytest.mark.slow
async def test_what_cannot_be_removed_now_keeps_nobody_from_beginning(
    own: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, key = beside(own), TenantKey(TENANT_KEY)
    async with ended.writing():
        pass
    await ended.end()

    async def full(*_: object, **__: object) -> bool:
        raise StoreUnavailable(Store.JOURNAL, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(JournalMarks, "write", full)
        assert await own.whole.begin(key) == ()
    [writer] = (await RedisMarks(own.redis).told()).marks
    await own.whole.begin(key)
    assert writer not in (await RedisMarks(own.redis).told()).marks


@pytest.mark.slow
@pytest.mark.parametrize("compared", [True, False], ids=["compared", "control: not compared behind the newer mark"])
async def test_an_older_copy_that_comes_back_while_marks_are_removed_is_not_hidden(
    own: Stores, monkeypatch: pytest.MonkeyPatch, compared: bool
) -> None:
    ended = beside(own)
    async with ended.writing():
        pass
    [(writer, older)] = (await RedisMarks(own.redis).told()).marks.items()
    async with ended.writing():
        pass
    await ended.end()
    write = RedisMarks.write

    async def of_an_older_copy(marks: RedisMarks, name: str, mark: Mark, *, at_least: int) -> None:
        await ask(own.redis, "HSET", keys.MARKS, f"mark:{writer}", str(older))
        await write(marks, name, mark, at_least=at_least)

    async def nothing(_: Wholeness) -> None:
        pass

    with monkeypatch.context() as patch:
        patch.setattr(RedisMarks, "write", of_an_older_copy)
        if not compared:
            patch.setattr(Wholeness, "require", nothing)
        assert await own.whole.begin(TenantKey(TENANT_KEY)) == ()
    assert await own.whole.compare() == ((Loss(Store.REDIS, LossKind.OLDER),) if compared else ())


@pytest.mark.slow
@pytest.mark.parametrize("overlapping", [True, False], ids=["another begins meanwhile", "alone"])
async def test_what_is_done_under_another_name_than_it_was_begun_is_known_to_all_stores(
    own: Stores, monkeypatch: pytest.MonkeyPatch, overlapping: bool
) -> None:
    counts, write = own.whole._own, RedisMarks.write  # pyright: ignore[reportPrivateUsage]
    async with own.whole.writing():
        pass
    first = counts.writer

    async def overtaken(marks: RedisMarks, name: str, mark: Mark, *, at_least: int) -> None:
        await write(marks, name, mark, at_least=at_least)
        if overlapping and counts.writer == first:
            await counts.begin()

    monkeypatch.setattr(RedisMarks, "write", overtaken)
    async with own.whole.writing():
        await own.whole.end()
    assert await own.whole.compare() == ()
    assert counts.writer != first
    for store in (JournalMarks(own.journal.folder), RedisMarks(own.redis), own.longterm.marks):
        assert (await store.told()).marks[counts.writer].done == 2


@pytest.mark.slow
async def test_a_name_that_the_journal_could_not_take_is_not_used(own: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, write = own.whole._own, JournalMarks.write  # pyright: ignore[reportPrivateUsage]

    async def known_names(marks: JournalMarks, writer: str, mark: Mark, *, new: bool) -> bool:
        if new:
            raise StoreUnavailable(Store.JOURNAL, "no space left on device")
        return await write(marks, writer, mark, new=new)

    async with own.whole.writing():
        await own.whole.end()
        with monkeypatch.context() as patch:
            patch.setattr(JournalMarks, "write", known_names)
            with pytest.raises(StoreUnavailable):
                await counts.begin()
    assert await own.whole.compare() == ()


@pytest.mark.slow
async def test_what_the_journal_could_not_close_is_closed_by_who_comes_next(
    own: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, write, failed = own.whole._own, JournalMarks.write, False  # pyright: ignore[reportPrivateUsage]

    async def once_full(marks: JournalMarks, writer: str, mark: Mark, *, new: bool) -> bool:
        nonlocal failed
        if not failed:
            failed = True
            raise StoreUnavailable(Store.JOURNAL, "no space left on device")
        return await write(marks, writer, mark, new=new)

    await counts.begin()
    await counts.begin()
    monkeypatch.setattr(JournalMarks, "write", once_full)
    async with counts._closing:  # pyright: ignore[reportPrivateUsage]
        both = asyncio.gather(counts.close(), counts.close(), return_exceptions=True)
        await asyncio.sleep(0)
    refused, closed = await both
    assert (type(refused), closed) == (StoreUnavailable, None)
    assert (await JournalMarks(own.journal.folder).told()).marks[counts.writer].done == 2


@pytest.mark.slow
async def test_who_ends_where_nothing_can_be_written_ends_all_the_same(own: Stores, tmp_path: Path) -> None:
    folder = own.journal.folder
    lock = folder / LOCK
    assert not lock.exists()
    await own.whole.end()
    assert not lock.exists(), "one that wrote nothing has no mark either"
    async with own.whole.writing():
        pass
    folder.rename(tmp_path / "aside")
    folder.write_text("no folder")
    await own.whole.end()


async def test_a_worker_that_stops_leaves_its_marks_to_others_to_remove(servers: Servers, tmp_path: Path) -> None:
    async with deployment(servers, tmp_path, serving=False) as here:
        async with here.services.whole.writing():
            pass
        writer = here.services.whole._own.writer  # pyright: ignore[reportPrivateUsage]
        marks = JournalMarks(here.settings.journal_folder)
        assert writer not in await marks.resting(IDLE), "the control: it goes on"
    # Another test's worker may have removed them already.
    assert writer in {**await marks.resting(IDLE), **(await marks.told()).gone}


@pytest.mark.slow
async def test_one_that_wakes_meanwhile_is_not_removed(own: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    rested = beside(own)
    async with rested.writing():
        pass
    [writer] = (await RedisMarks(own.redis).told()).marks
    os.utime(own.journal.folder / ".marks" / writer, (1, 1))
    writing = Wholeness.writing

    @asynccontextmanager
    async def overtaken(whole: Wholeness) -> AsyncGenerator[None]:
        async with writing(whole), writing(rested):
            yield

    with monkeypatch.context() as patch:
        patch.setattr(Wholeness, "writing", overtaken)
        await own.whole.begin(TenantKey(TENANT_KEY))
    assert writer in (await RedisMarks(own.redis).told()).marks
    assert await own.whole.compare() == ()


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False], ids=["before", "control: found behind it"])
async def test_one_that_ends_behind_the_newer_mark_is_not_removed_by_it(
    own: Stores, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    first, last = beside(own), beside(own)
    async with first.writing(), last.writing():
        pass
    await first.end()
    known = set((await RedisMarks(own.redis).told()).marks)
    writing, resting = Wholeness.writing, JournalMarks.resting

    @asynccontextmanager
    async def overtaken(whole: Wholeness) -> AsyncGenerator[None]:
        async with writing(whole):
            yield
        if whole is own.whole:
            async with writing(last):
                pass
            await last.end()

    async def found_behind(marks: JournalMarks, idle: float) -> dict[str, Mark]:
        async with overtaken(own.whole):
            pass
        return await resting(marks, idle)

    monkeypatch.setattr(Wholeness, "writing", overtaken)
    if not before:
        monkeypatch.setattr(JournalMarks, "resting", found_behind)
    await own.whole.begin(TenantKey(TENANT_KEY))
    assert len(known & set((await RedisMarks(own.redis).told()).marks)) == before


@pytest.mark.slow
async def test_a_process_that_rests_does_not_keep_a_loss_from_being_told(own: Stores) -> None:
    resting = beside(own)
    async with resting.writing():
        pass
    for mark in (own.journal.folder / ".marks").iterdir():
        os.utime(mark, (1, 1))
    await ask(own.redis, "FLUSHALL")
    assert await own.whole.begin(TenantKey(TENANT_KEY)) == (Loss(Store.REDIS, LossKind.LOST),)


@pytest.mark.slow
@pytest.mark.parametrize("marks", [True, False], ids=["marked", "control: no newer mark"])
@pytest.mark.parametrize(
    ("server", "ends"),
    [(Server.REDIS, True), (Server.REDIS, False), (Server.WEAVIATE, True)],
    ids=["redis, ended", "redis, idle", "weaviate, ended"],
)
async def test_a_copy_from_before_a_process_rested_is_still_known_to_be_older(
    own: Stores,
    fleet: Fleet,
    tenant: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: Server,
    *,
    ends: bool,
    marks: bool,
) -> None:
    await write(own, tenant, passing("purged", "o1"))
    restore = await copied(fleet, server, tmp_path / "copy")
    await fill(own, tenant)
    await own.whole.claimed()
    await rest(own, ends=ends)
    with monkeypatch.context() as patch:
        if not marks:

            @asynccontextmanager
            async def unmarked(_: Wholeness) -> AsyncGenerator[None]:
                yield

            patch.setattr(Wholeness, "writing", unmarked)
        assert await own.whole.begin(TenantKey(TENANT_KEY)) == ()
    await fleet.stop(server)
    restore()
    await fleet.start(server)
    assert (await own.whole.compare() != ()) == marks
    if marks:
        assert await refused(own, tenant)


@pytest.mark.slow
async def test_writing_that_a_loss_overtook_is_not_acknowledged(own: Stores, tenant: str) -> None:
    await write(own, tenant, passing("kept", "o3", at=LATER))
    with pytest.raises(StoreLost):
        async with own.whole.writing():
            await ask(own.redis, "FLUSHALL")
    await rebuild(own, tenant)
    async with own.whole.writing():
        pass
    assert await own.whole.compare() == ()


@pytest.mark.slow
@pytest.mark.parametrize("ends", [True, False], ids=["ended", "idle"])
async def test_a_journal_from_before_a_process_rested_is_known_to_be_older_and_all_is_there_again(
    own: Stores, tenant: str, tmp_path: Path, *, ends: bool
) -> None:
    await write(own, tenant, passing("purged", "o1"))
    shutil.copytree(own.journal.folder, tmp_path / "copy")
    before = await fill(own, tenant)
    await rest(own, ends=ends)
    assert await own.whole.begin(TenantKey(TENANT_KEY)) == ()
    shutil.rmtree(own.journal.folder)
    shutil.copytree(tmp_path / "copy", own.journal.folder)
    # Which marks the others have removed since only the newer journal knew.
    assert Loss(Store.JOURNAL, LossKind.OLDER) in await own.whole.compare()
    await rebuild(own, tenant)
    assert await remembered(own, tenant) == before


@pytest.mark.slow
@pytest.mark.parametrize("compared", [True, False], ids=["compared", "control: not compared"])
@pytest.mark.parametrize("store", [Store.REDIS, Store.WEAVIATE])
async def test_an_older_copy_that_comes_back_while_something_is_written_is_not_hidden(
    own: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, store: Store, compared: bool
) -> None:
    marks = RedisMarks(own.redis) if store is Store.REDIS else own.longterm.marks
    await write(own, tenant, passing("kept", "o3", at=LATER))
    older = (await marks.told()).marks
    await write(own, tenant, passing("lost", "o4", at=LATER), operation="job-4")
    newer = (await marks.told()).marks
    if not compared:
        of = type(marks)
        written = of.write

        async def whatever_there_is(self: Any, writer: str, mark: Mark, *, at_least: int) -> None:
            await written(self, writer, mark, at_least=0)

        monkeypatch.setattr(of, "write", whatever_there_is)
    with pytest.raises(StoreLost) if compared else nullcontext():
        async with own.whole.writing():
            for writer in newer:
                before = older.get(writer, Mark())
                if store is Store.REDIS:
                    await ask(own.redis, "HSET", keys.MARKS, f"mark:{writer}", str(before))
                else:
                    await own.longterm.marks._put(writer, str(before))  # pyright: ignore[reportPrivateUsage]
    assert (await own.whole.compare() == (Loss(store, LossKind.OLDER),)) == compared


@pytest.mark.slow
async def test_the_loss_of_another_store_meanwhile_is_not_taken_for_repaired(own: Stores, tenant: str) -> None:
    await write(own, tenant, passing("kept", "o3", at=LATER))
    await ask(own.redis, "FLUSHALL")
    found = await own.whole.compare()
    tokens = await own.whole.rebuilding(found)
    await own.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)
    await (await own.longterm._connection.client()).collections.delete_all()  # pyright: ignore
    assert not await own.whole.rebuilt(found, tokens)
    assert Loss(Store.WEAVIATE, LossKind.LOST) in await own.whole.compare()
    await rebuild(own, tenant)
    assert len(await own.longterm.everything(tenant)) == 1


@pytest.mark.slow
async def test_a_second_loss_begins_the_rebuilding_anew(own: Stores, tenant: str) -> None:
    before = await fill(own, tenant)
    await ask(own.redis, "FLUSHALL")
    found = await own.whole.compare()
    tokens = await own.whole.rebuilding(found)
    assert await own.whole.rebuilding(found) == tokens, "two that rebuild it at once have the same one"
    await own.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)
    await ask(own.redis, "FLUSHALL")
    assert not await own.whole.rebuilt(found, tokens)
    assert await refused(own, tenant)
    await rebuild(own, tenant)
    assert await remembered(own, tenant) == before


@pytest.mark.slow
async def test_who_ends_later_takes_nothing_back(own: Stores, tenant: str) -> None:
    await fill(own, tenant)
    await ask(own.redis, "FLUSHALL")
    found = await own.whole.compare()
    tokens = await own.whole.rebuilding(found)
    await own.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)
    assert await own.whole.rebuilt(found, tokens)
    async with own.whole.writing():
        marks = await RedisMarks(own.redis).told()
        assert await own.whole.rebuilt(found, tokens)
        assert await RedisMarks(own.redis).told() == marks
    assert await own.whole.compare() == ()


@pytest.mark.slow
async def test_a_journal_is_made_only_where_every_store_says_that_there_is_none(
    fleet: Fleet, own: Stores, tmp_path: Path
) -> None:
    elsewhere = Wholeness(JournalMarks(tmp_path / "not mounted"), RedisMarks(own.redis), own.longterm.marks)
    await fleet.stop(Server.REDIS)
    await fleet.stop(Server.WEAVIATE)
    with pytest.raises(StoreUnavailable):
        await elsewhere.begin(TenantKey(TENANT_KEY))
    assert not (tmp_path / "not mounted").exists()


@pytest.mark.slow
async def test_nothing_is_written_to_a_store_that_no_worker_has_begun(own: Stores) -> None:
    await ask(own.redis, "FLUSHALL")
    assert await own.whole.compare() == (), "nothing was ever written"
    with pytest.raises(StoreUnavailable, match="redis: is empty"):
        async with own.whole.writing():
            pass
    await own.whole.begin(TenantKey(TENANT_KEY))
    async with own.whole.writing():
        pass
    assert await own.whole.compare() == ()


@pytest.mark.slow
@pytest.mark.parametrize("store", [Store.WEAVIATE, pytest.param(Store.REDIS, marks=pytest.mark.slow)])
async def test_a_store_that_was_emptied_is_lost_even_where_the_journal_does_not_answer(
    own: Stores, tenant: str, tmp_path: Path, store: Store
) -> None:
    await write(own, tenant, passing("kept", "o3", at=LATER))
    assert not await own.whole.lost(store)
    folder = own.journal.folder
    folder.rename(tmp_path / "aside")
    folder.write_text("no folder")
    own.whole.doubt()
    assert not await own.whole.lost(store), "the control: it has everything"

    if store is Store.REDIS:
        await ask(own.redis, "FLUSHALL")
    else:
        await (await own.longterm._connection.client()).collections.delete_all()  # pyright: ignore
    own.whole.doubt()
    assert await own.whole.lost(store)

    folder.unlink()
    (tmp_path / "aside").rename(folder)
    assert await own.whole.compare() == (Loss(store, LossKind.LOST),)
    await rebuild(own, tenant)
