"""Rules that changed, on real stores: what they are tighter for becomes due, and a person's decision stays."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from perdure.errors import StoreUnavailable
from perdure.memory.door import Door
from perdure.memory.forgetting import forgetter
from perdure.memory.forgetting.forgetter import Forgetter
from perdure.memory.forgetting.selection import Guard
from perdure.memory.retention import RetentionRules
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Entry, State, Use
from tests.integration.conftest import Stores
from tests.integration.memory.forgetting.test_forgetter import NOW, PERSON, SWEEP, passing, write

BY = Actor(kind=ActorKind.SCHEDULE, id="redating")
TIGHT = RetentionRules(unused_days=30)


def door_with(stores: Stores, rules: RetentionRules) -> Door:
    """Return the door of a worker that has other rules."""
    return Door(
        longterm=stores.longterm,
        journal=stores.journal,
        deletions=stores.deletions,
        leases=stores.leases,
        due=stores.due,
        repair=stores.repair,
        whole=stores.whole,
        rules=rules,
        client_timeout=3,
        audit=stores.audit,
    )


def with_rules(stores: Stores, rules: RetentionRules) -> Forgetter:
    """Return the forgetter of a worker that has other rules."""
    return Forgetter(
        longterm=stores.longterm,
        door=door_with(stores, rules),
        deletions=stores.deletions,
        rules=rules,
        guard=Guard(),
        grace=timedelta(days=30),
    )


@pytest.mark.slow
async def test_what_tighter_rules_no_longer_keep_becomes_due(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetter, "MOST_AT_ONCE", 2)
    notes = [{**passing(f"k{number}", f"o{number}"), "valid_until": None} for number in range(5)]
    ids = await write(stores, tenant, *notes)
    assert await stores.due.next(tenant) == NOW + timedelta(days=365)
    tight = with_rules(stores, TIGHT)
    late = NOW + timedelta(days=31)
    # The control: without redating, a sweep under the tighter rules finds nothing.
    assert (await tight.plan(tenant, at=late, approved=False)).tombstone == ()

    assert await tight.redate(tenant, operation="redate:1", by=BY) == 5
    assert await tight.redate(tenant, operation="redate:1", by=BY) == 0
    assert await stores.due.next(tenant) == NOW + timedelta(days=30)
    stored = (await stores.longterm.get(tenant, ids)).values()
    assert {(one.version, one.rules_version, one.forget_reason) for one in stored} == {
        (2, TIGHT.version, "not used or confirmed for 30 days")
    }
    planned = await tight.plan(tenant, at=late, approved=False)
    assert planned.due == {"not used or confirmed for 30 days": 5}
    [line] = (await stores.journal.history(tenant, ids[0]))[1:]
    assert (line.by, line.why) == (BY, "the rules changed")

    assert await stores.forgetter.redate(tenant, operation="redate:2", by=BY) == 5, "the old rules again"
    assert await stores.due.next(tenant) == NOW + timedelta(days=365)


@pytest.mark.slow
@pytest.mark.parametrize(
    "died", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["counted", "counted by an attempt that died"]
)
async def test_what_is_used_before_it_is_redated_becomes_due_by_tighter_rules(
    stores: Stores, tenant: str, died: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    [identifier] = await write(stores, tenant, {**passing("a", "o1"), "valid_until": None})
    assert await stores.due.next(tenant) == NOW + timedelta(days=365)
    used = NOW + timedelta(hours=1)

    def counted(entry: Entry, _: Sequence[str]) -> Entry:
        return entry.used(Use(1, int(used.timestamp() * 1000)))

    async def die(*_: object) -> None:
        raise StoreUnavailable("redis", "the process died")

    async def count() -> int:
        return await door_with(stores, TIGHT).count(tenant, [identifier], counted, operation="used:1")

    if died:
        with monkeypatch.context() as patch:
            patch.setattr(type(stores.due), "lower", die)
            with pytest.raises(StoreUnavailable):
                await count()
        assert await count() == 0, "it is counted already"
    else:
        assert await count() == 1
    assert await with_rules(stores, TIGHT).redate(tenant, operation="redate:1", by=BY) == 0, "it has today's date"
    assert await stores.due.next(tenant) == used + timedelta(days=30)


async def test_what_a_person_brought_back_is_not_due_by_tighter_rules(stores: Stores, tenant: str) -> None:
    [identifier] = await write(stores, tenant, passing("a", "o1"))
    forgetting = await stores.forgetter.plan(tenant, at=NOW + timedelta(days=2), approved=False)
    await stores.forgetter.tombstone(forgetting, sweep="sweep-1", by=SWEEP)
    tight = with_rules(stores, TIGHT)
    assert await tight.redate(tenant, operation="redate:1", by=BY) == 0, "what is forgotten stays as it was"
    await stores.forgetter.restore(tenant, sweep="sweep-1", at=NOW + timedelta(days=3), by=PERSON)
    assert await tight.redate(tenant, operation="redate:2", by=BY) == 1
    [entry] = (await stores.longterm.get(tenant, [identifier])).values()
    assert (entry.state, entry.forget_after, entry.rules_version) == (State.CURRENT, None, TIGHT.version)
    assert (await tight.plan(tenant, at=datetime(2090, 1, 1, tzinfo=UTC), approved=True)).tombstone == ()


async def test_what_another_writer_changes_meanwhile_is_redated_as_it_is_then(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [identifier] = await write(stores, tenant, {**passing("a", "o1"), "valid_until": None})
    tight = with_rules(stores, TIGHT)
    read = type(stores.longterm).dated_otherwise
    later = NOW + timedelta(days=5)

    async def then_written(*given: object, **more: object) -> object:
        found = await read(*given, **more)  # pyright: ignore
        if monkeypatch_once:
            monkeypatch_once.clear()
            await write(stores, tenant, {**passing("a", "o2", at=later), "valid_until": None}, operation="job-2")
        return found

    monkeypatch_once = [True]
    monkeypatch.setattr(type(stores.longterm), "dated_otherwise", then_written)
    assert await tight.redate(tenant, operation="redate:1", by=BY) == 1
    [entry] = (await stores.longterm.get(tenant, [identifier])).values()
    assert (entry.seen, entry.forget_after) == (2, later + timedelta(days=30))
