"""Decisions on what the stores know already: in other words, under another id, or not to be kept at all."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest

from perdure.memory.extraction.statements import stated
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.observation import applied, observed
from perdure.memory.writing.planning import Known, plan
from perdure.values.changes import Deletion
from perdure.values.consents import refusal
from perdure.values.entries import Entry, Lane, Memory, Purpose, State
from perdure.values.items import MemoryItem, PatternItem, item_id
from perdure.values.jobs import Approved, Batch, Decision, PlannedItem

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)


def said(text: str, day: float = 0) -> MemoryItem:
    at = NOW + timedelta(days=day)
    return stated(MemoryItem(content=text, occurrence=f"{text} {day}", occurred_at=at))


def record() -> PatternItem:
    return PatternItem(lane=Lane.PATTERN, key="k", payload="p", occurrence="r", occurred_at=NOW)


def decided(
    *items: MemoryItem | PatternItem,
    stored: dict[str, Entry],
    withheld: tuple[Purpose, ...] = (),
    deletions: Mapping[str, Deletion] = MappingProxyType({}),
    **about: object,
) -> tuple[dict[str, Entry], tuple[PlannedItem, ...]]:
    """Return what is stored after a batch, and the decisions on it."""
    batch = Batch(tenant="t", key="k", items=items).changed(**about)
    known = Known(entries=stored, deletions=dict(deletions), withheld=withheld)
    planned = plan(batch, known, policy=WritePolicy(), at=NOW)
    return stored | {name: entry for name, (entry, _) in applied(batch, planned, stored).items()}, planned.items


def after(*items: MemoryItem) -> dict[str, Entry]:
    """Return what is stored after items that came one by one."""
    stored: dict[str, Entry] = {}
    for item in items:
        stored, _ = decided(item, stored=stored)
    return stored


BARRISTER, IN_OTHER_WORDS = said("My barrister is Ms Adeyemi."), said("Ms Adeyemi is my barrister.", 1)


def test_a_retry_of_what_was_said_in_other_words_is_known_and_counts_no_more() -> None:
    stored = after(BARRISTER, IN_OTHER_WORDS)
    [memory] = stored.values()
    again, [_, planned] = decided(said("It rains."), IN_OTHER_WORDS, stored=stored)
    reason = "this observation is known already"
    assert planned == PlannedItem(index=1, decision=Decision.REINFORCE, target=memory.id, reason=reason)
    assert again[memory.id] == memory
    # The control: another observation of it counts.
    anew, [counted] = decided(said("Ms Adeyemi is my barrister.", 2), stored=stored)
    assert (counted.target, counted.reason, anew[memory.id].seen) == (memory.id, "it says the same", 3)


def test_a_retry_of_what_was_said_in_other_words_does_not_bring_back_what_was_replaced() -> None:
    stored = after(BARRISTER, IN_OTHER_WORDS, said("My barrister is now Mr Okafor.", 3))
    replaced = stored[item_id("t", BARRISTER)]
    assert isinstance(replaced, Memory)
    assert replaced.state is State.SUPERSEDED
    again, [_, planned] = decided(said("It rains."), IN_OTHER_WORDS, stored=stored)
    reason = f"it was replaced by {replaced.superseded_by}"
    assert planned == PlannedItem(index=1, decision=Decision.REJECT, reason=reason)
    assert again[replaced.id] == replaced


def merged(whole_is: State = State.CURRENT, *, of_it: bool = True) -> tuple[MemoryItem, dict[str, Entry], Memory]:
    """Return what was said first, what is stored after it was merged into another memory, and that one."""
    item = said("The lead is Kim.")
    other = observed(None, "mem_whole", said("Kim leads the team."), Batch(tenant="t", key="k", items=(item,)))
    part = observed(None, item_id("t", item), item, Batch(tenant="t", key="k", items=(item,)))
    assert isinstance(other, Memory)
    assert isinstance(part, Memory)
    whole = other.changed(merged_from=(part.id, "mem_2") if of_it else (), state=whole_is)
    return item, {part.id: part.superseded(whole.id, NOW), whole.id: whole}, whole


def test_an_observation_of_what_was_merged_counts_for_the_whole() -> None:
    item, stored, whole = merged()
    anew = item.changed(occurrence="o2", occurred_at=NOW + timedelta(days=1))
    again, [planned] = decided(anew, stored=stored)
    assert planned == PlannedItem(index=0, decision=Decision.REINFORCE, target=whole.id)
    assert again[whole.id].seen == whole.seen + 1
    assert again[item_id("t", item)] == stored[item_id("t", item)]


def test_it_counts_for_what_the_whole_was_merged_into_in_turn() -> None:
    item, stored, part = merged()
    whole = part.changed(id="mem_more", merged_from=(part.id, "mem_3"))
    anew = item.changed(occurrence="o2", occurred_at=NOW + timedelta(days=1))
    _, [planned] = decided(anew, stored={**stored, part.id: part.superseded(whole.id, NOW), whole.id: whole})
    assert planned == PlannedItem(index=0, decision=Decision.REINFORCE, target=whole.id)


@pytest.mark.parametrize("twice", [False, True], ids=["merged", "merged twice"])
def test_a_part_that_is_said_to_replace_the_whole_is_believed_in_its_place(twice: bool) -> None:
    item, stored, whole = merged()
    if twice:
        part, whole = whole, whole.changed(id="mem_more", merged_from=(whole.id, "mem_3"))
        stored = {**stored, part.id: part.superseded(whole.id, NOW), whole.id: whole}
    anew = item.changed(occurrence="o2", occurred_at=NOW + timedelta(days=1), supersedes=whole.id)
    again, [planned] = decided(anew, stored=stored)
    own = item_id("t", item)
    assert (planned.decision, planned.target) == (Decision.SUPERSEDE, own)
    assert (again[own].state, again[whole.id].state) == (State.CURRENT, State.SUPERSEDED)


def test_a_whole_that_was_forgotten_in_between_keeps_nothing_from_counting() -> None:
    item, stored, part = merged()
    whole = part.changed(id="mem_more", merged_from=(part.id, "mem_3"))
    later = NOW + timedelta(days=2)
    swept = part.superseded(whole.id, NOW).forgotten("superseded", later)
    gone = Deletion.of(swept, at=later, reason="superseded", sweep="s")
    anew = item.changed(occurrence="o2", occurred_at=NOW + timedelta(days=1))
    _, [planned] = decided(anew, stored={**stored, part.id: swept, whole.id: whole}, deletions={part.id: gone})
    assert planned == PlannedItem(index=0, decision=Decision.REINFORCE, target=whole.id)


@pytest.mark.parametrize(("state", "of_it"), [(State.SUPERSEDED, True), (State.CURRENT, False)])
def test_it_counts_for_the_whole_only_while_that_is_believed_and_made_of_it(state: State, of_it: bool) -> None:
    item, stored, whole = merged(state, of_it=of_it)
    _, [planned] = decided(item.changed(occurrence="o2", occurred_at=NOW + timedelta(days=1)), stored=stored)
    assert planned.decision is Decision.REJECT
    assert planned.reason.startswith(f"it was replaced by {whole.id} (")


@pytest.mark.parametrize(
    ("session", "withheld", "refused"),
    [
        ("s", (Purpose.EXTRACTED,), Purpose.EXTRACTED),
        ("s", (Purpose.GIVEN,), None),
        ("", (Purpose.EXTRACTED,), None),
        ("", (Purpose.GIVEN,), Purpose.GIVEN),
    ],
)
def test_what_is_not_consented_to_is_refused_by_what_it_is_for(
    session: str, withheld: tuple[Purpose, ...], refused: Purpose | None
) -> None:
    _, planned = decided(record(), said("It rains."), stored={}, session=session, withheld=withheld)
    # A record is always given.
    assert planned[0].reason == (refusal(Purpose.GIVEN) if Purpose.GIVEN in withheld else "")
    assert planned[1].reason == (refusal(refused) if refused else "")
    assert (planned[1].decision is Decision.REJECT) is (refused is not None)


def test_what_a_person_has_approved_replaces_what_was_said_before_the_approval() -> None:
    window, doubted = said("The deploy window is on Monday.", 2), said("The deploy window is on Tuesday.", 1)
    stored = after(window)
    for approved, expected in (
        (None, Decision.REJECT),
        (Approved(at=NOW + timedelta(days=3), doubt=False), Decision.REJECT),
        (Approved(at=NOW + timedelta(days=1), doubt=True), Decision.REJECT),
        (Approved(at=NOW + timedelta(days=3), doubt=True), Decision.SUPERSEDE),
    ):
        _, [planned] = decided(doubted, stored=stored, approved=approved)
        assert planned.decision is expected


def test_records_among_what_is_known_hide_no_memory() -> None:
    happened = observed(None, "rec_1", record(), Batch(tenant="t", key="k", items=(record(),)))
    stored = {happened.id: happened} | after(said("My team lead is Wanjiru."))
    _, [planned] = decided(said("My team lead is Paavo since the split.", 70), stored=stored)
    assert planned.decision is Decision.SUPERSEDE


def test_what_told_of_a_change_changes_nothing_that_was_said_since_when_it_is_told_again() -> None:
    moved = "Rehearsals of the choir take place at the Kulturhus these days."
    stored = after(said(moved), said("The choir rehearses in St. Olave's hall.", 3))
    assert len(stored) == 2
    _, [planned] = decided(said(moved, 6), stored=stored)
    assert (planned.decision, planned.over) == (Decision.REINFORCE, ())
