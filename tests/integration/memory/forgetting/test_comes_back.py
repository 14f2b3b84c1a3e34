"""What was forgotten does not come back: in other words, through what it was made of, or late."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure.crashpoints import CrashPoint
from perdure.memory.extraction.statements import stated
from perdure.memory.writing.batch_checks import read_batch
from perdure.stores.journal.lines import accepted
from perdure.values.entries import Memory, State, holds
from perdure.values.items import MemoryItem
from perdure.values.jobs import Decision, PlannedItem
from perdure.values.updates import Correction, Merger, Removal, Update, Updated, UpdateRequest
from tests.integration.conftest import Stores
from tests.integration.memory.updates.test_updater import ADA, change, told
from tests.support.dying import dying_in_the_door

TRAIN = "I always travel by train."


async def offer(stores: Stores, tenant: str, content: str, occurrence: str, *, at: datetime) -> PlannedItem:
    """Offer a statement in a job of its own, which was accepted at a moment; return what became of it."""
    item: JsonValue = {"kind": "memory", "content": content, "occurrence": occurrence, "occurred_at": at.isoformat()}
    batch = read_batch(tenant=tenant, key=f"{occurrence} {at}", items=[item], accepted_at=at)
    batch = batch.changed(items=tuple(stated(one) for one in batch.items if isinstance(one, MemoryItem)))
    plan = await stores.writer.plan(batch, at=datetime.now(UTC))
    applied = await stores.writer.apply(batch, plan, operation=batch.key)
    [decided] = (applied.plan or plan).items
    return decided


async def believed(stores: Stores, tenant: str) -> set[str]:
    entries = (await stores.longterm.everything(tenant)).values()
    return {one.text for one in entries if isinstance(one, Memory) and one.state is not State.FORGOTTEN}


@pytest.mark.slow
@pytest.mark.parametrize("other", ["Our office is in Rome.", "The office is really in Rome."])
async def test_the_same_observation_in_other_words(stores: Stores, tenant: str, other: str) -> None:
    first = await offer(stores, tenant, "The office is in Rome.", "o1", at=datetime.now(UTC))
    second = await offer(stores, tenant, other, "o2", at=datetime.now(UTC))
    assert (second.target, second.decision) == (first.target, Decision.REINFORCE)
    removed = await change(stores, tenant, first.target, Removal())
    again = await offer(stores, tenant, other, "o2", at=datetime.now(UTC))
    assert again.decision is Decision.REJECT
    assert "it was forgotten" in again.reason
    assert await believed(stores, tenant) == set()
    await stores.forgetter.restore(tenant, sweep=removed.undo, at=datetime.now(UTC), by=ADA)
    assert (await offer(stores, tenant, other, "o2", at=datetime.now(UTC))).target == first.target
    await change(stores, tenant, first.target, Removal())
    learned = await offer(stores, tenant, other, "o3", at=datetime.now(UTC))
    assert learned.decision is Decision.INSERT, "the control: what is observed anew is believed"


@pytest.mark.slow
@pytest.mark.parametrize("merged", [True, False], ids=["merged", "control"])
async def test_what_it_was_merged_from(stores: Stores, tenant: str, merged: bool) -> None:
    other = "My favourite way to travel is by train."
    one, beside = await told(stores, tenant, TRAIN, other)
    whole = (await change(stores, tenant, one, Merger(other=beside))).id if merged else one
    accepted = datetime.now(UTC)
    removed = await change(stores, tenant, whole, Removal())
    assert await believed(stores, tenant) == (set() if merged else {other})
    late = await offer(stores, tenant, TRAIN, "o9", at=accepted)
    assert late.decision is Decision.REJECT
    assert await believed(stores, tenant) == (set() if merged else {other})
    await stores.forgetter.restore(tenant, sweep=removed.undo, at=datetime.now(UTC), by=ADA)
    stored = await stores.longterm.everything(tenant)
    assert stored[whole].state is State.CURRENT
    assert [stored[id_].state for id_ in (one, beside)] == [State.SUPERSEDED] * 2 or not merged


async def test_what_it_replaced(stores: Stores, tenant: str) -> None:
    [wrong] = await told(stores, tenant, "The office is in Rome.")
    right = (await change(stores, tenant, wrong, Correction(content="The office is in Oslo."))).id
    accepted = datetime.now(UTC)
    await change(stores, tenant, right, Removal())
    late = await offer(stores, tenant, "The office is in Rome.", "o9", at=accepted)
    assert (late.decision, right in late.reason) == (Decision.REJECT, True)
    anew = await offer(stores, tenant, "The office is in Rome.", "o10", at=datetime.now(UTC))
    assert anew.decision is Decision.REINFORCE, "the control: what is said after it was forgotten"


async def test_what_was_said_in_other_words_leaves_the_journal_with_a_purge(stores: Stores, tenant: str) -> None:
    at, other = datetime.now(UTC), "Our office is in Rome."
    first = await offer(stores, tenant, "The office is in Rome.", "o1", at=at)
    items: list[JsonValue] = [
        {"kind": "memory", "content": text, "occurrence": text, "occurred_at": at.isoformat()}
        for text in (other, "It rains in Ghent.")
    ]
    batch = read_batch(tenant=tenant, key="k", items=items, accepted_at=at)
    await stores.journal.append(tenant, accepted("job", batch, at))
    assert (await offer(stores, tenant, other, "o2", at=at)).target == first.target
    await change(stores, tenant, first.target, Removal())
    folder = stores.journal.folder / tenant
    assert other in "".join(path.read_text() for path in folder.glob("*.jsonl")), "the control"
    plan = await stores.forgetter.plan(tenant, at=datetime.now(UTC) + timedelta(days=31), approved=True)
    assert await stores.forgetter.purge(plan, sweep="purge", by=ADA) == 1
    kept = "".join(path.read_text() for path in folder.glob("*.jsonl"))
    assert "Rome" not in kept
    assert "It rains in Ghent." in kept


NOW = datetime(2026, 5, 6, 9, tzinfo=UTC)
MONDAY = NOW + timedelta(days=5)


async def says(
    stores: Stores,
    tenant: str,
    content: str,
    *,
    after: int,
    begins: datetime | None = None,
    ends: datetime | None = None,
) -> str:
    """Offer a statement on a day after the first; return the id of its memory."""
    at = NOW + timedelta(days=after)
    item: dict[str, JsonValue] = {"kind": "memory", "content": content, "occurrence": f"o{after}"}
    item |= {"occurred_at": at.isoformat()} | ({"valid_from": begins.isoformat()} if begins else {})
    item |= {"valid_until": ends.isoformat()} if ends else {}
    batch = read_batch(tenant=tenant, key=f"k{after}", items=[item], accepted_at=at)
    batch = batch.changed(items=tuple(stated(one) for one in batch.items if isinstance(one, MemoryItem)))
    plan = await stores.writer.plan(batch, at=at)
    applied = await stores.writer.apply(batch, plan, operation=batch.key)
    [decided] = (applied.plan or plan).items
    return decided.target


async def held_at(stores: Stores, tenant: str, at: datetime) -> set[str]:
    entries = (await stores.longterm.everything(tenant)).values()
    return {one.text for one in entries if isinstance(one, Memory) and holds(one, at)}


async def changed_at(stores: Stores, tenant: str, identifier: str, update: Update, at: datetime) -> Updated:
    request = UpdateRequest(user_id="u", id=identifier, update=update, by=ADA)
    return await stores.updater.update(tenant, request, operation=f"update:{uuid4().hex}", at=at)


NINE, EIGHT, SEVEN = "The standup is at nine.", "The standup is at eight.", "The standup is at seven."


@pytest.mark.slow
@pytest.mark.parametrize("ends", [False, True], ids=["for good", "until June"])
@pytest.mark.parametrize("how", ["comes", "said again", "forgotten", "brought back", "moved", "replaced"])
async def test_what_a_coming_change_was_to_end_goes_on_where_it_does_not_come(
    stores: Stores, tenant: str, how: str, *, ends: bool
) -> None:
    june = NOW + timedelta(days=40)
    nine = await says(stores, tenant, NINE, after=0, ends=june if ends else None)
    coming = await says(stores, tenant, EIGHT, after=1, begins=MONDAY)
    today, later = NOW + timedelta(days=2), MONDAY + timedelta(days=1)
    assert await held_at(stores, tenant, today) == {NINE}
    expected = {EIGHT}
    if how == "said again":
        await says(stores, tenant, NINE, after=2)
        expected = {NINE}
    if how in ("forgotten", "brought back"):
        removed = await changed_at(stores, tenant, coming, Removal(), today)
        expected = {NINE}
        assert await held_at(stores, tenant, later) == expected
        assert (await stores.journal.history(tenant, nine))[-1].why == "what was to end it does not come"
        if how == "brought back":
            await stores.forgetter.restore(tenant, sweep=removed.undo, at=today, by=ADA)
            expected = {EIGHT}
    if how == "moved":
        await changed_at(stores, tenant, coming, Correction(valid_from=MONDAY + timedelta(days=7)), today)
        expected = {NINE}
        assert await held_at(stores, tenant, MONDAY + timedelta(days=8)) == {EIGHT}
    if how == "replaced":
        new = Correction(content=SEVEN, valid_from=MONDAY + timedelta(days=7))
        await changed_at(stores, tenant, coming, new, today)
        expected = {NINE}
        assert await held_at(stores, tenant, MONDAY + timedelta(days=8)) == {SEVEN}
    assert await held_at(stores, tenant, today) == {NINE}
    assert await held_at(stores, tenant, later) == expected
    if ends and how in ("forgotten", "moved", "replaced"):
        assert NINE not in await held_at(stores, tenant, june + timedelta(days=1)), "its own end stays"
    elif how == "forgotten":
        assert await held_at(stores, tenant, june + timedelta(days=1)) == {NINE}, "the control"


@pytest.mark.slow
@pytest.mark.parametrize(
    "update", [Removal(), Correction(valid_from=MONDAY + timedelta(days=7))], ids=lambda one: one.kind
)
async def test_what_goes_on_is_settled_by_the_next_attempt_where_one_died(
    stores: Stores, tenant: str, update: Update, monkeypatch: pytest.MonkeyPatch
) -> None:
    nine = await says(stores, tenant, NINE, after=0)
    eight = await says(stores, tenant, EIGHT, after=1, begins=MONDAY)
    request = UpdateRequest(user_id="u", id=eight, update=update, by=ADA)

    async def attempt() -> Updated:
        return await stores.updater.update(tenant, request, operation="update:1", at=NOW + timedelta(days=2))

    with dying_in_the_door(monkeypatch, CrashPoint.APPLY_WRITTEN):
        await attempt()
    done = await attempt()
    assert done.versions.keys() == {nine, eight}, "the control: both are written by the attempt that died"
    assert await held_at(stores, tenant, MONDAY + timedelta(days=1)) == {NINE}
