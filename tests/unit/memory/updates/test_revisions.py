"""What corrections, feedback, outcomes, mergers and reversions make of memories."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvalidInput
from perdure.memory.updates.merges import merged_id
from perdure.memory.updates.revisions import (
    corrected,
    credited,
    operation_of,
    purposes_of,
    refined,
    require_permitted,
    reverted,
    revised,
    trial_of,
    why_of,
)
from perdure.values.changes import ActorKind
from perdure.values.entries import OCCURRENCES_KEPT, MemoryType, Purpose, Source, State
from perdure.values.suspensions import Suspension
from perdure.values.updates import (
    Correction,
    Credit,
    Feedback,
    MemoryUpdate,
    Merger,
    Pinning,
    Removal,
    Reversion,
    Update,
)
from tests.support.memories import NOW, memory


@pytest.mark.parametrize(("helpful", "after"), [(True, 0.6), (False, 0.3)])
def test_feedback_moves_confidence(helpful: bool, after: float) -> None:
    assert refined(memory(confidence=0.5), helpful=helpful, by=ActorKind.PERSON).confidence == after


@given(st.floats(0, 1), st.lists(st.booleans(), max_size=30))
def test_feedback_stays_within_bounds(start: float, given: list[bool]) -> None:
    one = memory(confidence=start)
    for helpful in given:
        one = refined(one, helpful=helpful, by=ActorKind.PERSON)
        assert 0 <= one.confidence <= 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_outcomes_count_each_task_once_as_it_ended_last(outcomes: list[tuple[str, bool]]) -> None:
    one = memory()
    for task, succeeded in outcomes:
        one = credited(one, trial_of("t", task), succeeded=succeeded)
    last = dict(outcomes)
    assert len(one.trials) == len(set(one.trials)) == len(last)
    assert set(one.successes) == {trial_of("t", task) for task, succeeded in last.items() if succeeded}
    assert credited(one, "x" * 12, succeeded=True) != one


def test_outcomes_beyond_the_bound_are_not_counted() -> None:
    full = memory(trials=tuple(map(str, range(OCCURRENCES_KEPT))))
    assert credited(full, "another", succeeded=True) == full


@pytest.mark.parametrize(
    ("by", "kind", "before", "after"),
    [
        (ActorKind.AGENT, MemoryType.CONSTRAINT, 0.95, 0.75),
        (ActorKind.AGENT, MemoryType.CONSTRAINT, 0.8, 0.7),
        (ActorKind.SYSTEM, MemoryType.CONSTRAINT, 0.5, 0.5),
        (ActorKind.PERSON, MemoryType.CONSTRAINT, 0.8, 0.6),
        (ActorKind.AGENT, MemoryType.FACT, 0.8, 0.6),
    ],
)
def test_only_a_persons_feedback_takes_a_constraint_out_of_recall(
    by: ActorKind, kind: MemoryType, before: float, after: float
) -> None:
    one = memory(confidence=before, memory_type=kind)
    assert refined(one, helpful=False, by=by).confidence == after
    assert refined(one, helpful=True, by=by).confidence == min(1.0, round(before + 0.1, 6))


@pytest.mark.parametrize("update", [Removal(), Merger(other="mem_2"), Pinning(pinned=False)])
def test_only_a_person_lifts_a_constraint(update: Update) -> None:
    fact, constraint = memory(), memory("mem_2", memory_type=MemoryType.CONSTRAINT)
    require_permitted(update, [fact], ActorKind.AGENT)
    require_permitted(update, [fact, constraint], ActorKind.PERSON)
    if isinstance(update, Pinning):
        require_permitted(update, [fact, constraint], ActorKind.AGENT)
        return
    with pytest.raises(InvalidInput, match=f"it would lift a constraint: mem_2 .*perdure memories {update.kind}"):
        require_permitted(update, [fact, constraint], ActorKind.AGENT)


def test_reverting_gives_back_what_was_said_and_keeps_the_evidence() -> None:
    earlier = memory(text="Before.", tags=("old",), confidence=0.8, version=1)
    now = memory(text="After.", tags=("new",), confidence=0.4, version=5, occurrences=("o", "p"), seen=2, trials=("x",))
    again = reverted(now, earlier, NOW)
    assert (again.text, again.tags, again.confidence) == ("Before.", ("old",), 0.8)
    assert (again.version, again.occurrences, again.seen, again.trials) == (5, ("o", "p"), 2, ("x",))


def test_reverting_believes_again_what_was_believed_then() -> None:
    since, at = NOW + timedelta(days=1), NOW + timedelta(days=2)
    span = Suspension(by="mem_2", start=NOW, until=since)
    replaced = memory(state=State.SUPERSEDED, superseded_by="mem_2", suspended=(span,), last_seen=since)
    assert reverted(replaced, memory(), at) == memory(last_seen=at, recorded_at=at)
    assert reverted(replaced, memory(), NOW).last_seen == since, "it was seen after that"
    assert reverted(replaced, replaced, at) == replaced, "it was not believed then either"
    assert reverted(memory(), memory(text="Before."), at) == memory(text="Before."), "it is believed, and seen no more"


@pytest.mark.parametrize(
    ("update", "after"),
    [
        (Feedback(helpful=True), {"confidence": 0.6}),
        (Feedback(helpful=False), {"confidence": 0.3}),
        (Pinning(pinned=True), {"pinned": True}),
        (Credit(task="a", succeeded=True), {"trials": (trial_of("t", "a"),), "successes": (trial_of("t", "a"),)}),
        (Credit(task="a", succeeded=False), {"trials": (trial_of("t", "a"),)}),
    ],
)
def test_a_change_that_keeps_the_content_changes_nothing_else(
    update: Feedback | Pinning | Credit, after: dict[str, Any]
) -> None:
    one = memory(confidence=0.5)
    assert revised("t", one, update, ActorKind.PERSON) == one.changed(**after)


@pytest.mark.parametrize(
    ("update", "purposes"),
    [
        (Correction(content="Other."), {Purpose.GIVEN}),
        (Merger(other="mem_2"), {Purpose.EXTRACTED}),
        (Reversion(version=1), {Purpose.EXTRACTED}),
        (Pinning(pinned=True), set[Purpose]()),
        (Removal(), set[Purpose]()),
    ],
)
def test_a_change_needs_the_consent_to_what_it_writes(update: Update, purposes: set[Purpose]) -> None:
    assert purposes_of(update, [memory(purpose=Purpose.EXTRACTED)]) == purposes


def test_what_is_written_for_two_purposes_needs_the_consent_to_both_and_what_is_not_believed_to_none() -> None:
    given, learned = memory(purpose=Purpose.GIVEN), memory("mem_2", purpose=Purpose.EXTRACTED)
    assert purposes_of(Merger(other="mem_2"), [given, learned]) == {Purpose.GIVEN, Purpose.EXTRACTED}
    replaced = given.changed(state=State.SUPERSEDED)
    assert purposes_of(Merger(other="mem_2"), [replaced, learned]) == {Purpose.GIVEN, Purpose.EXTRACTED}
    assert purposes_of(Reversion(version=1), [replaced, learned]) == {Purpose.EXTRACTED}


def test_a_correction_never_takes_time_back() -> None:
    one = memory(source=Source.LEARNED, last_seen=NOW, recorded_at=NOW)
    for days in (-1, 1):
        at = NOW + timedelta(days=days)
        found = corrected(
            one, described={"tags": ("t",)}, text="Other.", source=Source.EXPLICIT, confidence=0.95, at=at
        )
        assert (found.text, found.tags, found.confidence, found.source) == ("Other.", ("t",), 0.95, Source.EXPLICIT)
        assert (found.last_seen, found.recorded_at) == (max(NOW, at), max(NOW, at))


def test_a_change_that_says_of_what_is_the_same_operation_whoever_runs_it() -> None:
    def operation(run: str = "r", *, tenant: str = "t", **fields: Any) -> str:
        given = {"id": "mem_1", "update": Feedback(helpful=True, key="k"), "by": {"kind": "person", "id": "ada"}}
        return operation_of(tenant, MemoryUpdate.model_validate(given | fields), run)

    assert operation("r") == operation("s")
    others = [
        operation(tenant="u"),
        operation(id="mem_2"),
        operation(update=Feedback(helpful=False, key="k")),
        operation(update=Feedback(helpful=True, key="l")),
        operation(update=Feedback(helpful=True), expected=3),
        operation(update=Pinning(pinned=True), expected=3),
        operation(update=Pinning(pinned=False), expected=3),
        operation(update=Pinning(pinned=True), expected=4),
        operation(update=Correction(content="Other."), expected=3),
        operation(update=Correction(content="Other.", tags=()), expected=3),
        operation(update=Pinning(pinned=True), sending="s1"),
        operation(update=Pinning(pinned=False), sending="s1"),
        operation(update=Pinning(pinned=True), sending="s2"),
        operation(update=Pinning(pinned=True), sending="s1", id="mem_2"),
        operation(update=Pinning(pinned=True), sending="s1", tenant="u"),
        operation(update=Pinning(pinned=True), sending="s1", by={"kind": "person", "id": "eve"}),
        operation(by={"kind": "agent", "id": "ada"}),
        operation(by={"kind": "person", "id": "eve"}),
    ]
    assert len({operation(), *others}) == len(others) + 1
    assert operation("r", update=Pinning(pinned=True), expected=3) == operation(
        "s", update=Pinning(pinned=True), expected=3
    )
    assert operation("r", update=Pinning(pinned=True), sending="s1") == operation(
        "s", update=Pinning(pinned=True), sending="s1"
    )
    assert operation("r", update=Feedback(helpful=True)) == "update:r"
    assert operation("r", update=Pinning(pinned=True)) == "update:r"
    assert operation().startswith("update:")
    assert len(operation()) == len("update:") + 32


def test_why_an_entry_changes() -> None:
    assert [why_of(one) for one in (Removal(), Pinning(pinned=False), Pinning(pinned=True))] == [
        "forgotten on request",
        "unpin",
        "pin",
    ]


def test_the_short_form_of_a_task_is_of_its_user() -> None:
    assert len({trial_of(tenant, task) for tenant in "tu" for task in "ab"}) == 4
    assert len(trial_of("t", "a")) == 12


def test_what_names_operations_trials_and_mergers_stays_what_it_is_for_ever() -> None:
    def operation(**fields: Any) -> str:
        given = {"id": "mem_1", "by": {"kind": "person", "id": "ada"}} | fields
        return operation_of("t", MemoryUpdate.model_validate(given), "r")

    assert operation(update=Feedback(helpful=True, key="k")) == "update:15bb16fea49ab3c9b852fc8b19bf9771"
    assert operation(update=Pinning(pinned=True), expected=3) == "update:8b4930d8878f342949fc0a4ce4829c54"
    corrected_until = Correction(content="Other.", memory_type=MemoryType.CONSTRAINT, valid_until=NOW)
    assert operation(update=corrected_until, expected=3) == "update:63ff22c45c4b14ff6460f0dcbda01f25"
    assert trial_of("t", "a") == "1811036fc7c6"
    merger = "mem_84625c17ab67a788fe5d6086a862f001c6ab45810112c39ab07080d9f131e2a9"
    assert merged_id("o", "a", "b") == merger
