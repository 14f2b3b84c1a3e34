"""Weaviate, killed, can keep an object and lose it from any one of its indexes: it is found, mended or deleted."""

import shutil
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import JsonValue

from localservers import Server
from localservers.fleet import Fleet
from perdure.errors import StoreUnavailable
from perdure.memory.repair import Repair
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.redis.leases import Lease
from perdure.values.entries import Entry, Memory, State
from perdure.values.erasures import Erasure
from perdure.values.jobs import Fate
from tests.conftest import OwnServers
from tests.integration.conftest import Stores, open_stores
from tests.integration.memory.forgetting.test_forgetter import LATER, PERSON, SWEEP, passing, write
from tests.integration.memory.test_repair import NOW, batch_of
from tests.support.nearest import nearest

pytestmark = pytest.mark.slow

NUMBER = 20
EACH = pytest.mark.parametrize("index", ["property_identifier", "property_state", "property_valid_until_rangeable"])


@pytest_asyncio.fixture(loop_scope="session")
async def fleet(own_servers: OwnServers) -> Fleet:
    return await own_servers(Server.REDIS, Server.WEAVIATE)


async def lose(fleet: Fleet, tenant: str, index: str, collection: str = "perdurememory") -> None:
    """Leave Weaviate as if it had been killed with none of a tenant's writes in this index on the disk."""
    await fleet.stop(Server.WEAVIATE)
    shutil.rmtree(fleet.data(Server.WEAVIATE) / collection / tenant / "lsm" / index)
    await fleet.start(Server.WEAVIATE)


@pytest_asyncio.fixture(loop_scope="session")
async def own(fleet: Fleet, tmp_path: Path) -> AsyncGenerator[Stores]:
    async with open_stores(fleet.addresses, tmp_path) as opened:
        yield opened


@EACH
async def test_a_job_ends_whose_entries_an_index_lacks(fleet: Fleet, own: Stores, tenant: str, index: str) -> None:
    batch = batch_of(tenant, NUMBER)
    plan = await own.writer.plan(batch, at=NOW)
    versions = (await own.writer.apply(batch, plan, operation="job")).versions
    before = await own.longterm.everything(tenant)
    await lose(fleet, tenant, index)
    assert await own.longterm.everything(tenant) == before, "all of it is stored"
    assert sorted(await own.longterm.unsearchable(tenant)) == sorted(versions)

    receipts = await own.writer.confirm(batch, plan, versions)
    assert receipts is not None
    assert {one.fate for one in receipts} == {Fate.SEARCHABLE}
    assert await own.longterm.unsearchable(tenant) == []
    assert await own.longterm.get(tenant, sorted(versions)) == before, "each at its version"
    for entry, vector in zip(
        before.values(), await own.embedder.embed([one.text for one in before.values()]), strict=True
    ):
        [found] = await nearest(own.longterm, tenant, vector, 1)
        assert found.entry == entry


async def test_what_a_plan_does_not_find_by_its_id_is_written_for_good(fleet: Fleet, own: Stores, tenant: str) -> None:
    batch = batch_of(tenant, NUMBER)
    plan = await own.writer.plan(batch, at=NOW)
    versions = (await own.writer.apply(batch, plan, operation="job")).versions
    await lose(fleet, tenant, "property_identifier")
    assert await own.longterm.get(tenant, sorted(versions)) == {}, "the control: no filter by id finds it"

    again = await own.writer.plan(batch, at=NOW)
    applied = await own.writer.apply(batch, again, operation="job")
    assert await own.writer.confirm(batch, again, applied.versions) is not None
    found = await own.longterm.get(tenant, sorted(versions))
    assert {(one.version, one.seen) for one in found.values() if isinstance(one, Memory)} == {(1, 1)}


@pytest.fixture(params=[True, False], ids=["whole", "control"])
def whole(own: Stores, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether writers ask for what is stored, or, as a control, for what the filter by id finds."""
    if not request.param:

        async def found(_self: Repair, tenant: str, _lease: Lease, ids: Sequence[str]) -> dict[str, Entry]:
            return await own.longterm.get(tenant, ids)

        monkeypatch.setattr(Repair, "whole", found)
    return bool(request.param)


async def test_an_observation_adds_to_what_the_filter_by_id_does_not_find(
    fleet: Fleet, own: Stores, tenant: str, whole: bool
) -> None:
    def said(occurrence: str) -> dict[str, JsonValue]:
        said = {"content": "The office has seven windows.", "occurrence": occurrence, "occurred_at": NOW.isoformat()}
        return {"kind": "memory", **said}

    [identifier] = await write(own, tenant, said("first"), operation="job-1")
    for number in (2, 3):
        await write(own, tenant, said(f"o{number}"), operation=f"job-{number}")
    await lose(fleet, tenant, "property_identifier")
    batch = read_batch(tenant=tenant, key="late", items=[said("late")])
    plan = await own.writer.plan(batch, at=NOW)
    applied = await own.writer.apply(batch, plan, operation="late")
    assert await own.writer.confirm(batch, plan, applied.versions) is not None
    found = (await own.longterm.everything(tenant))[identifier]
    assert isinstance(found, Memory)
    assert ((found.version, found.seen) == (4, 4)) == whole
    assert await own.longterm.unsearchable(tenant) == []


async def test_what_is_purged_is_gone_although_the_filter_by_id_does_not_find_it(
    fleet: Fleet, own: Stores, tenant: str, whole: bool
) -> None:
    [identifier] = await write(own, tenant, passing("a", "o1"))
    await own.forgetter.tombstone(await own.forgetter.plan(tenant, at=LATER, approved=True), sweep="r1", by=SWEEP)
    await lose(fleet, tenant, "property_identifier", "perdurerecord")
    late = LATER + timedelta(days=60)
    due = await own.forgetter.plan(tenant, at=late, approved=True)
    if whole:
        await own.forgetter.purge(due, sweep="r2", by=SWEEP)
        assert await own.longterm.everything(tenant) == {}
    else:
        with pytest.raises(StoreUnavailable, match="1 deleted entry still stored"):
            await own.forgetter.purge(due, sweep="r2", by=SWEEP)
        assert [*await own.longterm.everything(tenant)] == [identifier], "it was not called purged"


async def test_undoing_restores_what_the_filter_by_id_does_not_find(fleet: Fleet, own: Stores, tenant: str) -> None:
    [identifier, purged] = await write(own, tenant, passing("a", "o1"), passing("b", "o2"))
    await own.forgetter.tombstone(await own.forgetter.plan(tenant, at=LATER, approved=True), sweep="r1", by=SWEEP)
    await own.longterm.delete(tenant, [purged])
    await lose(fleet, tenant, "property_identifier", "perdurerecord")
    assert await own.longterm.get(tenant, [identifier]) == {}, "the control: no filter by id finds it"

    undone = await own.forgetter.restore(tenant, sweep="r1", at=LATER, by=PERSON)
    lines = await own.deletions.of(tenant, [identifier, purged])
    assert (undone.restored, undone.more) == (1, False)
    assert {one: (line.restored_at, line.purged) for one, line in lines.items()} == {
        identifier: (LATER, False),
        purged: (None, True),
    }
    [entry] = (await own.longterm.get(tenant, [identifier, purged])).values()
    assert (entry.id, entry.state) == (identifier, State.CURRENT)
    assert await own.longterm.unsearchable(tenant) == []


@pytest.mark.parametrize(
    ("index", "forgotten"),
    [
        ("property_forget_after_rangeable", False),
        ("property_state", False),
        ("property_purge_after_rangeable", True),
    ],
)
async def test_a_due_date_that_a_sweep_did_not_find_is_back_once_the_entry_is_written_anew(
    fleet: Fleet, own: Stores, tenant: str, index: str, forgotten: bool
) -> None:
    [identifier] = await write(own, tenant, passing("a", "o1"))
    if forgotten:
        await own.forgetter.tombstone(await own.forgetter.plan(tenant, at=LATER, approved=True), sweep="r1", by=SWEEP)
        await own.forgetter.finish(tenant)
    due = LATER + timedelta(days=30) if forgotten else NOW + timedelta(days=1)
    assert await own.due.next(tenant) == due
    await lose(fleet, tenant, index, "perdurerecord")
    await own.forgetter.finish(tenant)
    assert await own.due.next(tenant) is None, "the control: no filter finds its date"

    assert await own.repair.repair(tenant, await own.longterm.unsearchable(tenant)) == 1
    assert await own.due.next(tenant) == due
    assert await own.due.tenants(now=due, after="", limit=10_000) == [tenant]
    planned = await own.forgetter.plan(tenant, at=due, approved=True)
    assert [one.id for one in (*planned.tombstone, *planned.purge)] == [identifier]


@EACH
async def test_what_is_deleted_is_gone_from_every_index(fleet: Fleet, own: Stores, tenant: str, index: str) -> None:
    batch = batch_of(tenant, NUMBER)
    versions = (await own.writer.apply(batch, await own.writer.plan(batch, at=NOW), operation="job")).versions
    await lose(fleet, tenant, index)
    await own.longterm.delete(tenant, sorted(versions))
    assert await own.longterm.everything(tenant) == {}
    [vector] = await own.embedder.embed(["Room 1 has 7 windows."])
    assert await nearest(own.longterm, tenant, vector, 5) == []


async def test_what_weaviate_says_of_itself_needs_no_index(fleet: Fleet, own: Stores, tenant: str) -> None:
    erasure = Erasure(tenant=tenant, epoch=1, at=NOW, operation="erase")
    await own.longterm.erasures.add(erasure)
    await write(own, tenant, passing("before", "o1"), operation="job-1")
    await fleet.stop(Server.WEAVIATE)
    for collection in ("perduremark", "perdureerasure"):
        [index] = fleet.data(Server.WEAVIATE).glob(f"{collection}/*/lsm/property__id")
        shutil.rmtree(index)
    await fleet.start(Server.WEAVIATE)

    assert await own.whole.compare() == ()
    await write(own, tenant, passing("after", "o2"), operation="job-2")
    assert await own.longterm.erasures.of(tenant) == erasure
