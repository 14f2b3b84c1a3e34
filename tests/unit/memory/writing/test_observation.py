"""What one more observation makes of an entry, and a batch of those that it is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.memory.writing.observation import after, applied, observed, successors, unusable, without
from perdure.values.entries import Entry, Memory, Purpose, State
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Batch, Decision, PlannedItem, UnusableItem, WritePlan
from perdure.values.suspensions import Suspension

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def said(text: str, day: float = 0, **more: Any) -> MemoryItem:
    at = NOW + timedelta(days=day)
    return MemoryItem(content=text, occurrence=f"{text} {day}", occurred_at=at, **more)


def batch(*items: MemoryItem, session: str = "") -> Batch:
    return Batch(tenant="t", key="k", items=items, session=session)


def memory(item: MemoryItem, stored: Entry | None = None, *, session: str = "", replaced: str = "") -> Memory:
    """Return the memory after one more observation."""
    entry = observed(stored, item_id("t", item), item, batch(item, session=session), replaced=replaced)
    assert isinstance(entry, Memory)
    return entry


@pytest.mark.parametrize(
    ("sessions", "purpose"),
    [
        (["s"], Purpose.EXTRACTED),
        (["s", "s"], Purpose.EXTRACTED),
        ([""], Purpose.GIVEN),
        (["s", ""], Purpose.GIVEN),
        (["", "s"], Purpose.GIVEN),
    ],
)
def test_what_was_given_once_is_kept_as_given_however_often_it_is_extracted(
    sessions: list[str], purpose: Purpose
) -> None:
    stored: Memory | None = None
    for day, session in enumerate(sessions):
        stored = memory(said("The lead is Kim.", day), stored, session=session)
    assert stored
    assert stored.purpose is purpose


@pytest.mark.parametrize(
    ("named", "replaced", "supersedes"),
    [
        ("", "", ""),
        ("mem_named", "", "mem_named"),
        ("", "mem_over", "mem_over"),
        ("mem_named", "mem_over", "mem_named"),
    ],
)
def test_what_was_replaced_is_believed_again_as_if_it_never_had_been(
    named: str, replaced: str, supersedes: str
) -> None:
    first = memory(said("The lead is Kim."))
    gone = first.superseded("mem_other", NOW, contradicted=True).changed(
        suspended=(Suspension(by="mem_other", start=NOW, until=NOW + DAY),)
    )
    again = memory(said("The lead is Kim.", 2, supersedes=named), gone, replaced=replaced)
    assert (again.state, again.superseded_by, again.superseded_at) == (State.CURRENT, "", None)
    assert (again.contradicted, again.suspended, again.supersedes) == (False, (), supersedes)


def test_what_ended_and_holds_again_is_no_longer_replaced() -> None:
    ended = memory(said("Lunch orders go to Marisol.")).changed(
        valid_until=NOW + DAY, superseded_by="mem_other", superseded_at=NOW, contradicted=True
    )
    again = memory(said("Lunch orders go to Marisol.", 2), ended)
    assert (again.superseded_by, again.superseded_at, again.contradicted) == ("", None, False)
    still = memory(said("Lunch orders go to Marisol.", 0.5), ended)
    assert (still.superseded_by, still.contradicted) == ("mem_other", True), "the control: it still ends then"


@pytest.mark.parametrize(("until", "link"), [(None, "mem_old"), (NOW + 3 * DAY, "")])
def test_what_holds_for_a_while_is_no_successor_of_what_it_suspends(until: datetime | None, link: str) -> None:
    old = memory(said("The demo runs on canvas-1.")).changed(id="mem_old")
    brief = said("The demo runs on canvas-2.", 1, valid_until=until)
    planned = PlannedItem(index=0, decision=Decision.INSERT, target="mem_new", over=("mem_old",))
    entries = after(batch(brief), planned, {"mem_old": old})
    new, before = entries["mem_new"], entries["mem_old"]
    assert isinstance(new, Memory)
    assert isinstance(before, Memory)
    assert (new.supersedes, before.state is State.SUPERSEDED) == (link, bool(link))


def test_what_is_not_believed_replaces_nothing() -> None:
    old = memory(said("The lead is Kim.")).changed(id="mem_old")
    refused = said("The lead is Lee.", 1, supersedes="mem_old")
    for decision in (Decision.REJECT, Decision.HOLD):
        planned = WritePlan(at=NOW, items=(PlannedItem(index=0, decision=decision, reason="r"),), expected={})
        assert applied(batch(refused), planned, {"mem_old": old}) == {}


def test_what_the_store_refuses_rejects_the_items_that_become_it_and_is_replaced_by_none() -> None:
    items = said("a"), said("b"), said("c", supersedes="mem_n"), said("d"), said("e", supersedes="mem_n"), said("f")
    ids = [item_id("t", item) for item in items]
    overs = [(), ("mem_o", "mem_p"), (), ("mem_o",), ("mem_p",), ("mem_o",)]
    decisions = [Decision.INSERT, *[Decision.SUPERSEDE] * 4, Decision.REJECT]
    planned = tuple(
        PlannedItem(index=place, decision=decision, target=ids[place], over=over)
        for place, (decision, over) in enumerate(zip(decisions, overs, strict=True))
    )
    plan = WritePlan(at=NOW, items=planned, expected=dict.fromkeys(ids, 0) | {ids[3]: 1})
    reasons = {ids[0]: "too odd", "mem_n": "old", "mem_o": "older"}
    assert without(batch(*items), plan, {}) == plan
    left = without(batch(*items), plan, reasons).items
    assert left[0] == PlannedItem(index=0, decision=Decision.REJECT, reason="long-term memory refuses it: too odd")
    assert [(one.decision, one.over) for one in left[1:]] == [
        (Decision.SUPERSEDE, ("mem_p",)),
        (Decision.INSERT, ()),
        (Decision.REINFORCE, ()),
        (Decision.SUPERSEDE, ("mem_p",)),
        (Decision.REJECT, ("mem_o",)),
    ]
    assert left[1].reason == "it could not replace mem_o, as long-term memory refuses it: older"
    assert left[4].reason == "it could not replace mem_n, as long-term memory refuses it: old"


def test_only_an_item_whose_own_entry_the_store_refuses_is_unusable() -> None:
    items = said("a"), said("b")
    offered = batch(*items)
    refused, kept = unusable(offered, {item_id("t", items[0]): "too odd", "mem_o": "older"}).items
    assert (refused, kept) == (UnusableItem(reason="long-term memory refuses it: too odd"), items[1])
    assert unusable(unusable(offered, {item_id("t", items[0]): "too odd"}), {}).items == (refused, kept)


def test_what_could_not_be_replaced_has_no_successor() -> None:
    old = memory(said("The lead is Kim.")).changed(id="mem_old")
    item = said("The lead is Lee.", 1, supersedes="mem_old")
    target = item_id("t", item)
    planned = PlannedItem(index=0, decision=Decision.SUPERSEDE, target=target)
    plan = WritePlan(at=NOW, items=(planned,), expected={target: 0, "mem_old": 1})
    for reasons, link in (({}, "mem_old"), ({"mem_old": "too odd"}, "")):
        left = without(batch(item), plan, reasons)
        for decided in (plan, left):
            entries = applied(batch(item), decided, {"mem_old": old}, reasons)
            new, _ = entries[target]
            assert isinstance(new, Memory)
            assert (new.supersedes, "mem_old" in entries) == (link, bool(link))


def test_what_overtakes_an_entry_is_known_until_that_is_said_again() -> None:
    items = said("a"), said("b"), said("c", supersedes="n"), said("a", 1), said("d", supersedes="n")
    overs = [("o",), ("A", "o"), ("B",), ("B",), ("o",)]
    decisions = [Decision.INSERT, Decision.SUPERSEDE, Decision.SUPERSEDE, Decision.REINFORCE, Decision.REJECT]
    planned = tuple(
        PlannedItem(index=place, decision=decision, target="ABCAD"[place], over=over)
        for place, (decision, over) in enumerate(zip(decisions, overs, strict=True))
    )
    found = successors(batch(*items), WritePlan(at=NOW, items=planned, expected={}))
    assert found == {"o": {"A", "B"}, "B": {"C", "A"}, "n": {"C"}}
