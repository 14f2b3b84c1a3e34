"""Each store loses its data, or is replaced by an older copy: it is noticed, nothing is written, all is rebuilt."""

import shutil
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from localservers import Fleet, Server
from perdure.errors import StoreLost, StoreUnavailable
from perdure.memory.reconciliation import reconciler
from perdure.memory.reconciliation.merge import Merged
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.due import DueIndex
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.entries import Entry, State
from perdure.values.jobs import Decision
from perdure.values.losses import Loss, LossKind, Store
from tests.integration.conftest import AnyStores, Stores
from tests.integration.memory.forgetting.test_forgetter import LATER, NOW, passing, write

BY = Actor(kind=ActorKind.PERSON, id="ada")


class Remembers(NamedTuple):
    """All that is remembered of a tenant."""

    entries: dict[str, Entry]
    deletions: list[Deletion]
    due: object


async def fill(stores: AnyStores, tenant: str) -> Remembers:
    """Remember three, forget one, purge another."""
    await write(stores, tenant, passing("purged", "o1"))
    plan = await stores.forgetter.plan(tenant, at=NOW.replace(day=3), approved=True)
    await stores.forgetter.tombstone(plan, sweep="sweep-1", by=BY)
    plan = await stores.forgetter.plan(tenant, at=LATER, approved=True)
    assert await stores.forgetter.purge(plan, sweep="sweep-1", by=BY) == 1
    await write(stores, tenant, passing("forgotten", "o2", at=LATER), operation="job-2")
    plan = await stores.forgetter.plan(tenant, at=LATER.replace(day=13), approved=True)
    await stores.forgetter.tombstone(plan, sweep="sweep-2", by=BY)
    await write(stores, tenant, passing("kept", "o3", at=LATER), operation="job-3")
    await stores.forgetter.finish(tenant)
    return await remembered(stores, tenant)


async def remembered(stores: AnyStores, tenant: str) -> Remembers:
    return Remembers(
        await stores.longterm.everything(tenant), await stores.deletions.all(tenant), await stores.due.next(tenant)
    )


async def refused(stores: Stores, tenant: str) -> bool:
    """Return whether a change of memory is refused since a store lost data."""
    try:
        await write(stores, tenant, passing("new", "o9", at=LATER), operation="job-9")
    except StoreUnavailable:
        return True
    return False


async def rebuild(stores: Stores, tenant: str) -> None:
    found = await stores.whole.compare()
    await stores.longterm.prepare()
    tokens = await stores.whole.rebuilding(found)
    try:
        await stores.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)
    except StoreUnavailable as error:
        # The chain's file went with the journal's folder; the next attempt of the activity begins another one.
        if error.store != "audit":
            raise
        await stores.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)
    assert await stores.whole.rebuilt(found, tokens)
    assert await stores.whole.compare() == ()


def log_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebuild, as a control, no deletion log."""

    def none(*_: object, **__: object) -> dict[str, Deletion]:
        return {}

    monkeypatch.setattr(reconciler, "logged", none)


def date_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebuild, as a control, no due date."""

    async def nothing(self: DueIndex, tenant: str, moment: datetime | None) -> None:
        pass

    monkeypatch.setattr(DueIndex, "set", nothing)


def merge_without(monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    """Rebuild, as a control, as if the journal had no entries, or nothing had ever been forgotten."""
    merge = reconciler.merge

    def without(
        remote: Mapping[str, Entry], local: Mapping[str, Entry], deletions: Mapping[str, Deletion], grace: timedelta
    ) -> Merged:
        return merge(remote, {} if lost == "entries" else local, {} if lost == "log" else deletions, grace)

    monkeypatch.setattr(reconciler, "merge", without)


async def copied(fleet: Fleet, server: Server, to: Path) -> Callable[[], None]:
    """Copy a server's data, as a backup does; returns what puts the copy in its place."""
    data = fleet.data(server)
    await fleet.stop(server)
    shutil.copytree(data, to)
    await fleet.start(server)

    def restore() -> None:
        shutil.rmtree(data)
        shutil.copytree(to, data)

    return restore


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["", "log", "dates"], ids=["rebuilt", "control: no log", "control: no dates"])
async def test_redis_is_emptied(own: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    before = await fill(own, tenant)
    assert {line.purged for line in before.deletions} == {True, False}
    await ask(own.redis, "FLUSHALL")

    assert await own.whole.compare() == (Loss(Store.REDIS, LossKind.LOST),)
    assert await refused(own, tenant)
    if lost == "log":
        log_nothing(monkeypatch)
    elif lost == "dates":
        date_nothing(monkeypatch)
    await rebuild(own, tenant)

    after = await remembered(own, tenant)
    again = read_batch(tenant=tenant, key="job-5", items=[passing("purged", "o1"), passing("forgotten", "o2")])
    decisions = [item.decision for item in (await own.writer.plan(again, at=LATER)).items]
    due = await own.due.tenants(now=LATER + timedelta(days=2), after="", limit=10)
    if lost == "log":
        assert after == before._replace(deletions=[])
        assert Decision.REJECT not in decisions
    elif lost == "dates":
        assert after == before._replace(due=None)
        assert due == []
    else:
        assert after == before
        assert {*decisions} == {Decision.REJECT}
        assert due == [tenant]
        assert not await refused(own, tenant)


@pytest.mark.slow
@pytest.mark.parametrize("undone", [True, False], ids=["undone", "control"])
async def test_forgetting_is_undone_between_reading_and_writing(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, undone: bool
) -> None:
    await fill(stores, tenant)
    (forgotten,) = [line for line in await stores.deletions.all(tenant) if not line.purged]
    everything, every, at = stores.longterm.everything, stores.deletions.all, LATER.replace(day=14)

    async def lost(asked: str) -> list[Deletion]:
        monkeypatch.setattr(stores.deletions, "all", every)
        return []

    async def read_before(asked: str) -> dict[str, Entry]:
        found = await everything(asked)
        if undone:
            await stores.forgetter.restore(tenant, sweep="sweep-2", at=at, by=BY)
        else:
            await ask(stores.redis, "HDEL", keys.deletions(tenant), forgotten.id)
        return found

    monkeypatch.setattr(stores.deletions, "all", lost)
    monkeypatch.setattr(stores.longterm, "everything", read_before)
    await stores.reconciler.reconcile(tenant, operation="reconcile:1", by=BY)

    (line,) = (await stores.deletions.of(tenant, [forgotten.id])).values()
    assert line.restored_at == (at if undone else None)
    entry = (await stores.longterm.get(tenant, [forgotten.id]))[forgotten.id]
    assert (entry.state is State.FORGOTTEN) is not undone


@pytest.mark.slow
async def test_redis_is_an_older_copy(fleet: Fleet, own: Stores, tenant: str, tmp_path: Path) -> None:
    await write(own, tenant, passing("purged", "o1"))
    restore = await copied(fleet, Server.REDIS, tmp_path / "copy")
    before = await fill(own, tenant)
    await fleet.stop(Server.REDIS)
    restore()
    await fleet.start(Server.REDIS)

    assert await own.whole.compare() == (Loss(Store.REDIS, LossKind.OLDER),)
    assert await refused(own, tenant)
    await rebuild(own, tenant)
    assert await remembered(own, tenant) == before


@pytest.mark.slow
@pytest.mark.parametrize("rebuilt", [True, False], ids=["rebuilt", "control: no entries"])
async def test_weaviate_is_emptied(
    own: Stores, fleet: Fleet, tenant: str, monkeypatch: pytest.MonkeyPatch, rebuilt: bool
) -> None:
    before = await fill(own, tenant)
    await fleet.stop(Server.WEAVIATE)
    shutil.rmtree(fleet.data(Server.WEAVIATE))
    await fleet.start(Server.WEAVIATE)

    assert await own.whole.compare() == (Loss(Store.WEAVIATE, LossKind.LOST),)
    assert await refused(own, tenant)
    if not rebuilt:
        merge_without(monkeypatch, "entries")
    await rebuild(own, tenant)
    assert await remembered(own, tenant) == (before if rebuilt else before._replace(entries={}, due=None))
    assert await own.longterm.unsearchable(tenant) == []


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["", "log", "entries"], ids=["rebuilt", "control: no log", "control: no entries"])
async def test_weaviate_is_an_older_copy(
    own: Stores, fleet: Fleet, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    [purged] = await write(own, tenant, passing("purged", "o1"))
    restore = await copied(fleet, Server.WEAVIATE, tmp_path / "copy")
    before = await fill(own, tenant)
    await fleet.stop(Server.WEAVIATE)
    restore()
    await fleet.start(Server.WEAVIATE)

    assert State.CURRENT in {entry.state for entry in (await own.longterm.everything(tenant)).values()}
    assert await own.whole.compare() == (Loss(Store.WEAVIATE, LossKind.OLDER),)
    assert await refused(own, tenant)
    if lost:
        merge_without(monkeypatch, lost)
    await rebuild(own, tenant)
    after = await remembered(own, tenant)
    if lost == "log":
        assert after.entries.keys() == {*before.entries, purged}
        assert after.entries[purged].state is State.CURRENT
    else:
        assert after == (before._replace(entries={}, due=None) if lost else before)


@pytest.mark.slow
async def test_the_journal_is_an_older_copy(own: Stores, tenant: str, tmp_path: Path) -> None:
    await write(own, tenant, passing("purged", "o1"))
    shutil.copytree(own.journal.folder, tmp_path / "copy")
    before = await fill(own, tenant)
    shutil.rmtree(own.journal.folder)
    shutil.copytree(tmp_path / "copy", own.journal.folder)

    assert await own.whole.compare() == (Loss(Store.JOURNAL, LossKind.OLDER),)
    assert await refused(own, tenant)
    await rebuild(own, tenant)
    assert await remembered(own, tenant) == before
    await own.reconciler.reconcile(tenant, operation="reconcile:2", by=BY)
    assert await remembered(own, tenant) == before


@pytest.mark.slow
async def test_the_journal_is_lost(own: Stores, tenant: str) -> None:
    await fill(own, tenant)
    shutil.rmtree(own.journal.folder)

    assert await own.whole.compare() == (Loss(Store.JOURNAL, LossKind.LOST),)
    assert await refused(own, tenant)
    with pytest.raises(StoreLost, match="reconcile --new-journal"):
        await own.whole.require()


@pytest.mark.slow
async def test_what_is_learned_anew_after_a_purge_outlives_an_older_copy(
    own: Stores, fleet: Fleet, tenant: str, tmp_path: Path
) -> None:
    await write(own, tenant, passing("purged", "o1"))
    await write(own, tenant, passing("purged", "o2"), operation="job-1b")
    restore = await copied(fleet, Server.WEAVIATE, tmp_path / "copy")
    await fill(own, tenant)
    [anew] = await write(own, tenant, passing("purged", "o9", at=LATER.replace(day=25)), operation="job-9")
    before = await remembered(own, tenant)
    assert (before.entries[anew].version, before.entries[anew].state) == (1, State.CURRENT)
    await fleet.stop(Server.WEAVIATE)
    restore()
    await fleet.start(Server.WEAVIATE)
    assert (await own.longterm.get(tenant, [anew]))[anew].version > 1, "the copy has it from before"
    await rebuild(own, tenant)
    assert await remembered(own, tenant) == before


@pytest.mark.slow
async def test_nothing_is_planned_from_a_store_that_was_lost(own: Stores, tenant: str) -> None:
    await fill(own, tenant)
    again = read_batch(tenant=tenant, key="job-5", items=[passing("forgotten", "o2", at=LATER)])
    assert (await own.writer.plan(again, at=LATER)).items[0].decision is Decision.REJECT
    await ask(own.redis, "FLUSHALL")
    with pytest.raises(StoreLost, match="redis"):
        await own.writer.plan(again, at=LATER)
