"""What is decided on one statement beside the memories about the same: where each rule begins and ends."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.memory.extraction.statements import stated
from perdure.memory.writing.contradictions import Contradiction, doubt, overtaken, replaces, verdict
from perdure.memory.writing.observation import observed
from perdure.values.entries import Memory, MemoryType, Source, State
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch, Decision

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def said(text: str, day: float = 0, **more: Any) -> MemoryItem:
    at = NOW + timedelta(days=day)
    return stated(MemoryItem(content=text, occurrence=f"{text} {day}", occurred_at=at, **more))


def memory(item: MemoryItem, identifier: str = "mem_old", **fields: Any) -> Memory:
    entry = observed(None, identifier, item, Batch(tenant="t", key="k", items=(item,)))
    assert isinstance(entry, Memory)
    return entry.changed(**fields)


MONDAY, TUESDAY = said("The deploy window is on Monday."), said("The deploy window is on Tuesday.", 1)


def test_what_is_overridden_is_listed_newest_first_and_the_newest_that_was_said_later_is_named() -> None:
    old, new = memory(MONDAY), memory(said("The deploy window is on Friday.", 0.5), "mem_new")
    for known in ([old, new], [new, old]):
        assert verdict(TUESDAY, "mem_3", known) == Contradiction(Decision.SUPERSEDE, over=(new, old))
        since = [one.changed(last_seen=one.last_seen + 2 * DAY) for one in known]
        reason = "mem_new was said later, and contradicts it"
        found = verdict(TUESDAY, "mem_3", since)
        assert (found.decision, found.over, found.reason) == (Decision.REJECT, (), reason)
        assert found.stands
        assert found.stands.id == "mem_new"


@pytest.mark.parametrize(
    ("of_memory", "of_item", "replaced"),
    [(None, None, True), (2, None, True), (None, 2, False), (3, 2, False), (2, 2, True), (1, 2, True)],
)
def test_a_statement_replaces_what_does_not_hold_again_after_it(
    of_memory: int | None, of_item: int | None, replaced: bool
) -> None:
    old, new = memory(MONDAY), TUESDAY
    old = old.changed(valid_until=NOW + of_memory * DAY if of_memory else None)
    new = new.changed(valid_until=NOW + of_item * DAY if of_item else None)
    assert replaces(new, old) is replaced


@pytest.mark.parametrize(("begins", "ends_then"), [(None, True), (4, True), (5, False), (6, False)])
def test_what_begins_with_a_later_statement_or_after_it_never_holds(begins: int | None, ends_then: bool) -> None:
    start = NOW + 5 * DAY
    old = memory(MONDAY, valid_from=NOW + begins * DAY if begins else None)
    after = overtaken(old, TUESDAY.changed(valid_from=start), "mem_new", NOW + DAY)
    assert (after.superseded_by, after.contradicted) == ("mem_new", True)
    assert (after.state, after.valid_until) == ((State.CURRENT, start) if ends_then else (State.SUPERSEDED, None))


@pytest.mark.parametrize(
    ("of_memory", "of_item", "decision"),
    [
        ({"valid_until": NOW + DAY}, {}, Decision.INSERT),
        ({"valid_until": NOW + DAY + timedelta(seconds=1)}, {}, Decision.SUPERSEDE),
        ({"valid_from": NOW + 3 * DAY, "valid_until": NOW + 4 * DAY}, {"valid_until": NOW + 3 * DAY}, Decision.INSERT),
        (
            {"valid_from": NOW + 2 * DAY, "valid_until": NOW + 3 * DAY},
            {"valid_until": NOW + 3 * DAY},
            Decision.SUPERSEDE,
        ),
        ({"scopes": ("work",)}, {}, Decision.INSERT),
        ({"state": State.SUPERSEDED}, {}, Decision.INSERT),
    ],
)
def test_two_statements_contradict_each_other_only_while_both_hold(
    of_memory: dict[str, Any], of_item: dict[str, Any], decision: Decision
) -> None:
    found = verdict(TUESDAY.changed(**of_item), "mem_new", [memory(MONDAY, **of_memory)])
    assert (found.decision, bool(found.over)) == (decision, decision is Decision.SUPERSEDE)


def test_a_constraint_is_more_than_one_more_observation_of_a_fact() -> None:
    fact = memory(said("My barrister is Ms Adeyemi."))
    again = said("Ms Adeyemi is my barrister.", 1)
    assert verdict(again, "mem_new", [fact]) == Contradiction(Decision.REINFORCE, fact)
    binding = again.changed(memory_type=MemoryType.CONSTRAINT)
    assert verdict(binding, "mem_new", [fact]) == Contradiction(Decision.INSERT)
    constraint = fact.changed(memory_type=MemoryType.CONSTRAINT)
    assert verdict(binding, "mem_new", [constraint]) == Contradiction(Decision.REINFORCE, constraint)


EXPLICIT, LEARNED, INFERRED, MERGED = Source.EXPLICIT, Source.LEARNED, Source.INFERRED, Source.MERGED


@pytest.mark.parametrize(
    ("of_memory", "of_item", "reason"),
    [
        ({"last_seen": NOW + DAY}, {}, "it was said at the same moment as what it contradicts"),
        ({"memory_type": MemoryType.CONSTRAINT}, {}, "it would lift a constraint"),
        ({}, {"source": EXPLICIT}, ""),
        ({}, {"source": MERGED}, ""),
        ({}, {"source": LEARNED}, ""),
        ({"memory_type": MemoryType.PREFERENCE}, {"source": LEARNED}, "it contradicts what a person said"),
        ({"memory_type": MemoryType.PREFERENCE, "source": LEARNED}, {"source": LEARNED}, ""),
        ({}, {"source": INFERRED}, "it is inferred, and contradicts what was said or seen"),
        ({"source": INFERRED}, {"source": INFERRED}, ""),
    ],
)
def test_a_person_is_asked_with_the_reason(of_memory: dict[str, Any], of_item: dict[str, Any], reason: str) -> None:
    old = memory(MONDAY, **{"source": EXPLICIT, **of_memory})
    assert doubt(old, TUESDAY.changed(**of_item)) == reason


@pytest.mark.parametrize("kind", [MemoryType.FACT, MemoryType.CONSTRAINT])
def test_a_correction_is_no_word_against_what_overrides_the_corrected_memory(kind: MemoryType) -> None:
    brief = memory(TUESDAY, "mem_brief", valid_until=NOW + 5 * DAY)
    corrected = said("The deploy window is on Thursday.", 2, memory_type=kind)
    found = verdict(corrected, "mem_new", [brief], overriding={"mem_brief"})
    assert (found.decision, found.over, found.under) == (Decision.INSERT, (), (brief,))
    assert verdict(corrected, "mem_new", [brief]).over == (brief,), "the control: said by itself, it ends that one"
