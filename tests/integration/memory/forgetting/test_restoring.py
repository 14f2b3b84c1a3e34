"""Forgetting undone on the real stores: what was forgotten comes back as it was, and what was said since holds."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure.crashpoints import CrashPoint
from perdure.memory.updates import revisions
from perdure.values.entries import State
from perdure.values.updates import Removal, Reversion
from tests.integration.conftest import Stores
from tests.integration.memory.updates.test_updater import ADA, change, stored, told
from tests.support.dying import dying_in_the_door

SECOND, THIRD = "The kitchen is on the second floor.", "The kitchen is on the third floor."


async def undo(stores: Stores, tenant: str, sweep: str, at: datetime | None = None) -> int:
    at = at or datetime.now(UTC)
    return (await stores.forgetter.restore(tenant, sweep=sweep, at=at, by=ADA)).restored


@pytest.mark.slow
async def test_what_was_said_since_holds_and_what_comes_back_is_replaced_by_it(stores: Stores, tenant: str) -> None:
    [second] = await told(stores, tenant, SECOND)
    removed = await change(stores, tenant, second, Removal())
    [third] = await told(stores, tenant, THIRD, at=datetime.now(UTC))
    assert await undo(stores, tenant, removed.undo) == 1
    found = await stored(stores, tenant, second)
    assert (found.state, found.superseded_by, found.contradicted) == (State.SUPERSEDED, third, True)
    assert (await stored(stores, tenant, third)).state is State.CURRENT
    # A person can still have it hold.
    await change(stores, tenant, second, Reversion(version=1))
    assert (await stored(stores, tenant, second)).state is State.CURRENT
    assert (await stored(stores, tenant, third)).superseded_by == second


async def test_what_comes_back_goes_before_what_was_said_earlier_and_learned_late(stores: Stores, tenant: str) -> None:
    now = datetime.now(UTC)
    [third] = await told(stores, tenant, THIRD, at=now)
    removed = await change(stores, tenant, third, Removal())
    [second] = await told(stores, tenant, SECOND, at=now - timedelta(days=2))
    assert await undo(stores, tenant, removed.undo) == 1
    assert (await stored(stores, tenant, third)).state is State.CURRENT
    assert (await stored(stores, tenant, second)).superseded_by == third


@pytest.mark.parametrize("said", [revisions.FORGOTTEN, "somebody asked for it"])
async def test_what_was_forgotten_on_request_comes_back_as_it_was_however_that_is_worded(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setattr(revisions, "FORGOTTEN", said)
    june = datetime.now(UTC) + timedelta(days=30)
    bridge, shop = await told(
        stores, tenant, "The bridge is closed.", "The shop opens at nine.", valid_until=june.isoformat()
    )
    for one in (bridge, shop):
        before = await stored(stores, tenant, one)
        removed = await change(stores, tenant, one, Removal())
        assert await undo(stores, tenant, removed.undo) == 1
        after = await stored(stores, tenant, one)
        assert after == before.changed(version=3, operations=after.operations)
        assert (after.forget_after, after.kept_at) == (june, None)


async def test_what_a_later_day_replaces_is_believed_until_then(stores: Stores, tenant: str) -> None:
    [rome] = await told(stores, tenant, "The office is in Rome.")
    june = datetime.now(UTC) + timedelta(days=30)
    [oslo] = await told(stores, tenant, "The office is in Oslo.", at=datetime.now(UTC), valid_from=june.isoformat())
    before = await stored(stores, tenant, rome)
    assert (before.state, before.superseded_by, before.valid_until) == (State.CURRENT, oslo, june)
    removed = await change(stores, tenant, rome, Removal())
    await undo(stores, tenant, removed.undo)
    after = await stored(stores, tenant, rome)
    assert after == before.changed(version=after.version, operations=after.operations)


@pytest.mark.slow
async def test_an_undoing_that_died_in_between_is_finished(
    stores: Stores, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    [third] = await told(stores, tenant, THIRD, at=now)
    removed = await change(stores, tenant, third, Removal())
    [second] = await told(stores, tenant, SECOND, at=now - timedelta(days=2))
    with dying_in_the_door(monkeypatch, CrashPoint.APPLY_WRITTEN):
        await undo(stores, tenant, removed.undo, now)
    assert await undo(stores, tenant, removed.undo, now) == 1
    assert (await stored(stores, tenant, second)).superseded_by == third
    assert (await stored(stores, tenant, third)).version == 3
