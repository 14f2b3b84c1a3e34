"""Forgetting against real stores: undoable, then final, and nothing brings it back."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from perdure.errors import StoreUnavailable, VersionConflict
from perdure.memory.forgetting import forgetter
from perdure.memory.recall import local
from perdure.memory.recall.query import Query
from perdure.memory.write_policies import POLICIES
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.journal.lines import Accepted, accepted
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.entries import Lane, State
from perdure.values.jobs import Decision
from tests.integration.conftest import AnyStores, Stores

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=40)
SWEEP, PERSON = Actor(kind=ActorKind.SCHEDULE), Actor(kind=ActorKind.PERSON, id="ada")


def passing(key: str, occurrence: str, at: datetime = NOW) -> dict[str, JsonValue]:
    return {
        "kind": "record",
        "lane": "pattern",
        "key": key,
        "payload": {"note": key},
        "occurrence": occurrence,
        "occurred_at": at.isoformat(),
        "valid_until": (at + timedelta(days=1)).isoformat(),
    }


async def write(stores: AnyStores, tenant: str, *items: JsonValue, operation: str = "job-1") -> list[str]:
    batch = read_batch(tenant=tenant, key=operation, items=items)
    plan = await stores.writer.plan(batch, at=NOW)
    await stores.writer.apply(batch, plan, operation=operation)
    return [item.target for item in plan.items]


async def locally(stores: Stores, tenant: str) -> dict[str, int]:
    """Return what recall finds in the journal, and how often it was seen."""
    query = Query(tenant=tenant, session="", now=NOW)
    found = local.known(query, await stores.journal.read(tenant), POLICIES).entries
    return {entry.id: entry.seen for entry in found.values() if query.filters.objection(entry) is None}


def _covers_nothing(self: Deletion, occurrence: str, occurred_at: datetime) -> bool:
    return False


@pytest.mark.slow
async def test_what_expired_is_tombstoned_then_purged_and_stays_away(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    assert await stores.due.next(tenant) == NOW + timedelta(days=1)

    first = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    assert [(item.id, item.reason) for item in first.tombstone] == [(identifier, "expired")]
    assert (await stores.forgetter.tombstone(first, sweep="sweep-1", by=SWEEP)).forgotten == 1
    assert await stores.longterm.lookup(tenant, lane=Lane.PATTERN, keys=["a"], limit=5, now=NOW) == []
    await stores.forgetter.finish(tenant)
    assert await stores.due.next(tenant) == NOW + timedelta(days=32)

    second = await stores.forgetter.plan(tenant, at=LATER, approved=False)
    assert [item.id for item in second.purge] == [identifier]
    assert await stores.forgetter.purge(second, sweep="sweep-2", by=SWEEP) == 1
    assert await stores.forgetter.purge(second, sweep="sweep-2", by=SWEEP) == 1, (
        "a second attempt finds it gone, which is what was asked"
    )
    assert await stores.longterm.get(tenant, [identifier]) == {}
    assert (await stores.deletions.of(tenant, [identifier]))[identifier].purged

    again = read_batch(tenant=tenant, key="job-1", items=[passing("a", "o1")])
    await stores.journal.append(tenant, accepted("job-again", again, LATER))
    assert await locally(stores, tenant) == {}
    refused = (await stores.writer.plan(again, at=LATER)).items[0]
    assert refused.decision is Decision.REJECT
    assert "forgotten on 2026-05-03: expired" in refused.reason
    with monkeypatch.context() as patch:
        # The control: without the deletion log, the purged record would be back.
        patch.setattr(Deletion, "covers", _covers_nothing)
        assert (await stores.writer.plan(again, at=LATER)).items[0].decision is Decision.INSERT
    seen_anew = read_batch(tenant=tenant, key="job-2", items=[passing("a", "o2", at=LATER)])
    assert (await stores.writer.plan(seen_anew, at=LATER)).items[0].decision is Decision.INSERT


@pytest.mark.slow
async def test_what_was_seen_again_since_the_plan_stays_whole(stores: Stores, tenant: str) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    planned = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    again = passing("a", "o2", at=NOW + timedelta(days=1)) | {"valid_until": (NOW + timedelta(days=99)).isoformat()}
    await write(stores, tenant, again, operation="job-2")

    with pytest.raises(VersionConflict):
        await stores.forgetter.tombstone(planned, sweep="sweep-1", by=SWEEP)

    third = read_batch(tenant=tenant, key="job-3", items=[again | {"occurrence": "o3"}])
    assert (await stores.writer.plan(third, at=LATER)).items[0].decision is not Decision.REJECT
    assert await locally(stores, tenant) == {identifier: 2}, "nor has the journal lost it"

    due = await stores.forgetter.plan(tenant, at=LATER + timedelta(days=99), approved=False)
    let = await stores.forgetter.tombstone(due, sweep="sweep-1", by=SWEEP)
    assert let.forgotten == 1, "it may still go later in the same run"
    assert (await stores.writer.plan(third, at=LATER)).items[0].decision is Decision.REJECT


@pytest.mark.slow
async def test_a_sweep_that_died_takes_back_what_it_logged_of_an_entry_seen_again_since(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    planned = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)

    async def die(self: LongTerm, *_: object, **__: object) -> None:
        raise StoreUnavailable("weaviate", "the process died")

    with monkeypatch.context() as patch:
        patch.setattr(LongTerm, "put", die)
        with pytest.raises(StoreUnavailable):
            await stores.forgetter.tombstone(planned, sweep="sweep-1", by=SWEEP)
    assert await locally(stores, tenant) == {}, "from its first line on"
    late = NOW + timedelta(days=3)
    again = passing("a", "o2", at=late) | {"valid_until": (NOW + timedelta(days=99)).isoformat()}
    await write(stores, tenant, again, operation="job-2")

    with pytest.raises(VersionConflict):
        await stores.forgetter.tombstone(planned, sweep="sweep-1", by=SWEEP)
    assert await locally(stores, tenant) == {identifier: 2}
    third = read_batch(tenant=tenant, key="job-3", items=[passing("a", "o3")])
    assert (await stores.writer.plan(third, at=LATER)).items[0].decision is Decision.REINFORCE


async def test_a_purge_that_comes_late_takes_nothing_new_from_the_journal(stores: Stores, tenant: str) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    first = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(first, sweep="sweep-1", by=SWEEP)
    purge = await stores.forgetter.plan(tenant, at=LATER, approved=False)
    new = read_batch(tenant=tenant, key="job-2", items=[passing("a", "o2", at=LATER)])
    await stores.journal.append(tenant, accepted("job-2", new, LATER))
    await stores.forgetter.purge(purge, sweep="sweep-2", by=SWEEP)

    assert await locally(stores, tenant) == {identifier: 1}
    [line] = [line for line in await stores.journal.read(tenant) if isinstance(line, Accepted)]
    assert line.item.occurrence == "o2"


async def test_undoing_brings_it_back_for_good(stores: Stores, tenant: str) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    forgetting = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(forgetting, sweep="sweep-1", by=SWEEP)
    for attempt in ("the first", "a second"):
        restored = await stores.forgetter.restore(tenant, sweep="sweep-1", at=NOW + timedelta(days=3), by=PERSON)
        assert (restored.restored, restored.more) == (1, False), attempt
    [entry] = (await stores.longterm.get(tenant, [identifier])).values()
    assert entry.state is State.CURRENT
    assert (await stores.forgetter.plan(tenant, at=LATER, approved=False)).tombstone == ()
    [found] = await stores.longterm.lookup(tenant, lane=Lane.PATTERN, keys=["a"], limit=5, now=LATER)
    assert found.id == identifier


@pytest.mark.parametrize("protected", [True, False], ids=["protected", "control"])
@pytest.mark.parametrize("first", ["the job", "the sweep"])
@pytest.mark.slow
async def test_what_a_sweep_has_only_logged_refuses_no_observation(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, first: str, protected: bool
) -> None:
    """A sweep dies between log and store, and a job plans: what is written first decides, as without the death."""
    if not protected:

        def never(self: Deletion, entry: object) -> bool:
            return False

        monkeypatch.setattr(Deletion, "is_unfinished", never)
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    planned = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)

    async def die(self: LongTerm, *_: object, **__: object) -> None:
        raise StoreUnavailable("weaviate", "the process died")

    with monkeypatch.context() as patch:
        patch.setattr(LongTerm, "put", die)
        with pytest.raises(StoreUnavailable):
            await stores.forgetter.tombstone(planned, sweep="sweep-1", by=SWEEP)
    again = passing("a", "o2", at=NOW + timedelta(days=1)) | {"valid_until": (NOW + timedelta(days=99)).isoformat()}
    batch = read_batch(tenant=tenant, key="job-2", items=[again])
    decided = await stores.writer.plan(batch, at=NOW)
    [decision] = [item.decision for item in decided.items]
    assert decision is (Decision.REINFORCE if protected else Decision.REJECT)
    if not protected:
        return
    if first == "the sweep":
        await stores.forgetter.tombstone(planned, sweep="sweep-1", by=SWEEP)
        applied = await stores.writer.apply(batch, decided, operation="job-2")
        assert applied.plan is not None
        assert [item.decision for item in applied.plan.items] == [Decision.REJECT]
        assert await locally(stores, tenant) == {}
        return
    await stores.writer.apply(batch, decided, operation="job-2")
    assert (await stores.deletions.of(tenant, [identifier]))[identifier].restored_at is not None
    assert await locally(stores, tenant) == {identifier: 2}, "nor does the journal forget it"
    with pytest.raises(VersionConflict):
        await stores.forgetter.tombstone(planned, sweep="sweep-1", by=SWEEP)
    third = read_batch(tenant=tenant, key="job-3", items=[again | {"occurrence": "o3"}])
    assert (await stores.writer.plan(third, at=NOW)).items[0].decision is Decision.REINFORCE


async def test_undoing_goes_on_where_the_store_lost_an_entry(stores: Stores, tenant: str) -> None:
    [lost, kept] = await write(stores, tenant, passing("a", "o1"), passing("b", "o2"))
    forgetting = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(forgetting, sweep="sweep-1", by=SWEEP)
    for gone, left in ((lost, [kept]), (kept, [])):
        await stores.longterm.delete(tenant, [gone])
        at = NOW + timedelta(days=3)
        undone = await stores.forgetter.restore(tenant, sweep="sweep-1", at=at, by=PERSON)
        assert (undone.restored, undone.more) == (len(left), False)
        assert list(await stores.longterm.get(tenant, [lost, kept])) == left
        lines = await stores.deletions.of(tenant, [lost, kept])
        assert [identifier for identifier, line in lines.items() if line.restored_at] == left
        assert all(line.purged for identifier, line in lines.items() if identifier not in left)
        again = [line.changed(restored_at=None, purged=False) for line in lines.values()]
        async with stores.leases.hold(tenant) as lease:
            await stores.deletions.write(tenant, again, lease)


async def test_forgetting_and_undoing_name_who_and_why(stores: Stores, tenant: str) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    forgetting = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(forgetting, sweep="sweep-1", by=SWEEP)
    await stores.forgetter.restore(tenant, sweep="sweep-1", at=NOW + timedelta(days=3), by=PERSON)
    told = await stores.journal.history(tenant, identifier)
    assert [(line.entry.state, line.by, line.why) for line in told[1:]] == [
        (State.FORGOTTEN, SWEEP, "expired"),
        (State.CURRENT, PERSON, "what sweep-1 forgot was restored"),
    ]
    assert await locally(stores, tenant) == {identifier: 1}


async def test_a_suspiciously_large_sweep_is_held(stores: Stores, tenant: str) -> None:
    await write(stores, tenant, *(passing(f"k{number}", f"o{number}") for number in range(30)))
    held = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    assert held.held == "30 of 30 entries are due, more than 30%"
    approved = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=True)
    assert (approved.held, len(approved.tombstone)) == ("", 30)


async def test_what_one_plan_does_not_take_is_counted_by_reason(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetter, "MOST_AT_ONCE", 2)
    doubted = [passing(f"d{number}", f"d{number}") | {"confidence": 0.1, "valid_until": None} for number in range(3)]
    memory: JsonValue = {"kind": "memory", "content": "It rains.", "occurrence": "m", "occurred_at": NOW.isoformat()}
    await write(stores, tenant, *(passing(f"e{number}", f"e{number}") for number in range(2)), *doubted, memory)
    planned = await stores.forgetter.plan(tenant, at=LATER, approved=False)
    assert (len(planned.tombstone), planned.more) == (2, True)
    assert planned.due == {"expired": 2, "confidence below 0.3": 3}
    await stores.forgetter.tombstone(planned, sweep="sweep-1", by=SWEEP)
    rest = await stores.forgetter.plan(tenant, at=LATER + timedelta(days=31), approved=False)
    assert (rest.due, rest.purgeable) == ({"expired": 2, "confidence below 0.3": 1}, 2), "most overdue first"


async def test_an_entry_used_again_after_the_plan_is_not_purged(stores: Stores, tenant: str) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    first = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(first, sweep="sweep-1", by=SWEEP)
    purge = await stores.forgetter.plan(tenant, at=LATER, approved=False)
    await write(stores, tenant, passing("a", "o2", at=LATER), operation="job-2")
    assert await stores.forgetter.purge(purge, sweep="sweep-2", by=SWEEP) == 0
    [entry] = (await stores.longterm.get(tenant, [identifier])).values()
    assert (entry.state, entry.seen) == (State.CURRENT, 1)
