"""Decisions on items: pure rules, by plain calls."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing import observation
from perdure.memory.writing.observation import applied, observed
from perdure.memory.writing.planning import Known, plan
from perdure.memory.writing.provenance import occurrence_of
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.entries import OCCURRENCES_KEPT, Entry, Lane, Memory, MemoryType, Record, Source, State
from perdure.values.items import MemoryItem, PatternItem, import_of, item_id, statement
from perdure.values.jobs import Batch, Decision, PlannedItem, UnusableItem

NOW = datetime(2026, 5, 1, tzinfo=UTC)
NOTHING = Known(entries={}, deletions={})


def memory(content: str, *, occurrence: str = "o1", confidence: float = 0.9, supersedes: str = "") -> MemoryItem:
    return MemoryItem(
        content=content, confidence=confidence, supersedes=supersedes, occurrence=occurrence, occurred_at=NOW
    )


def record(payload: str, occurrence: str, at: datetime = NOW) -> PatternItem:
    return PatternItem(lane=Lane.PATTERN, key="k", payload=payload, occurrence=occurrence, occurred_at=at)


def believed(item: MemoryItem, **more: object) -> Memory:
    entry = observed(None, item_id("t", item), item, batch(item))
    assert isinstance(entry, Memory)
    return entry.changed(**more)


def batch(*items: MemoryItem | PatternItem) -> Batch:
    return Batch(tenant="t", key="k", items=items)


@pytest.mark.parametrize(("seconds", "over"), [(-1, True), (0, True), (1, False)])
def test_what_is_over_when_it_is_accepted_is_kept_and_said_to_be(seconds: int, over: bool) -> None:
    item = memory("Ask [email].").changed(valid_until=NOW + timedelta(seconds=seconds))
    accepted = batch(item, record("x", "o2").changed(valid_until=item.valid_until)).changed(accepted_at=NOW)
    planned = plan(accepted, Known(entries={}, deletions={}), policy=WritePolicy(), at=NOW + timedelta(days=9)).items
    assert [one.decision for one in planned] == [Decision.INSERT, Decision.INSERT]
    ended = f"kept, and not recalled: it was over on {item.valid_until:%Y-%m-%d}"
    assert [one.reason.startswith(ended) for one in planned] == [over, over]
    assert planned[0].reason.endswith("kept without what identifies somebody or gives access: [email]")


def test_what_ends_before_it_begins_is_rejected_whoever_said_the_end() -> None:
    item = memory("Ada likes peanuts.").changed(valid_from=NOW, valid_until=NOW)
    [planned] = plan(batch(item), Known(entries={}, deletions={}), policy=WritePolicy(), at=NOW).items
    assert planned.decision is Decision.REJECT
    assert "items[0].valid_until: 2" in planned.reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada likes peanuts.", "Ada does not like peanuts."),
        ("I prefer Python over JavaScript", "I prefer JavaScript over Python"),
        ("Backups go to db-1", "Backups go to db-2"),
        ("The limit is 5", "The limit is 50"),
        ("Use C", "Use C++"),
        ("Use C", "Use C#"),
        ("Keep backups for ≥ 5 days", "Keep backups for ≤ 5 days"),
        ("Alert when errors > 5", "Alert when errors < 5"),
        ("The fee is $5", "The fee is €5"),
        ("The check is x == y", "The check is x != y"),
        ("The release is ✅", "The release is ❌"),
        ("Plan A failed", "The plan failed"),
        ("The deploy is frozen.", "The deploy is frozen?"),
    ],
)
def test_a_difference_that_matters_makes_another_statement(one: str, other: str) -> None:
    assert statement(one) != statement(other)


def test_case_articles_and_stops_do_not() -> None:
    one, other = "The deploy freezes on Fridays.", "the deploy  freezes on fridays"
    assert item_id("t", memory(one)) == item_id("t", memory(other)), "so both are one to journal and deletion log"
    assert statement("...") != statement("the ;")


def test_what_was_forgotten_is_refused_unless_it_is_observed_anew() -> None:
    item = memory("The lead is Kim.")
    identifier = item_id("t", item)
    gone = Deletion(id=identifier, at=NOW, reason="expired", sweep="r", occurrences=(occurrence_of("t", item),))
    known = Known(entries={}, deletions={identifier: gone})
    assert plan(batch(item), known, policy=WritePolicy(), at=NOW).items[0].decision is Decision.REJECT
    anew = item.changed(occurrence="o2", occurred_at=NOW + timedelta(seconds=1))
    assert plan(batch(anew), known, policy=WritePolicy(), at=NOW).items[0].decision is Decision.INSERT
    same_again = item.changed(occurred_at=NOW + timedelta(days=9))
    assert plan(batch(same_again), known, policy=WritePolicy(), at=NOW).items[0].decision is Decision.REJECT


def test_a_memory_below_the_bar_is_refused_and_a_record_is_not() -> None:
    low = memory("Perhaps.", confidence=0.69)
    happened = record("p", "o").changed(confidence=0.1)
    decisions = [item.decision for item in plan(batch(low, happened), NOTHING, policy=WritePolicy(), at=NOW).items]
    assert decisions == [Decision.REJECT, Decision.INSERT]


@given(st.lists(st.integers(0, 6), max_size=30))
def test_seen_counts_distinct_occurrences_whatever_is_retried(order: list[int]) -> None:
    entry: Entry | None = None
    for number in order:
        item = record("p", f"o{number}", NOW + timedelta(days=number))
        entry = observed(entry, item_id("t", item), item, batch(item))
    if entry is not None:
        assert entry.seen == len(set(order)) == len(entry.occurrences)
        assert entry.first_seen == NOW + timedelta(days=min(order))
        assert entry.last_seen == NOW + timedelta(days=max(order))


def seen_by(numbers: Iterable[int]) -> Memory:
    entry: Entry | None = None
    for number in numbers:
        item = memory("The lead is Kim.", occurrence=f"o{number}", confidence=0.1)
        entry = observed(entry, item_id("t", item), item, batch(item))
    assert isinstance(entry, Memory)
    return entry


@pytest.mark.parametrize("kept", [OCCURRENCES_KEPT, 64], ids=["kept", "control"])
def test_occurrences_are_counted_exactly_up_to_their_bound(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(observation, "OCCURRENCES_KEPT", kept)
    assert (seen_by([*range(70), 0]).seen == 70) is (kept > 70)
    full = seen_by([*range(1_000), *range(1_000)])
    assert (full.seen == len(full.occurrences) == 1_000) is (kept > 70)


def test_a_full_list_of_occurrences_is_bounded_and_nothing_more_is_counted() -> None:
    full, more = seen_by(range(OCCURRENCES_KEPT)), seen_by([*range(OCCURRENCES_KEPT + 50), 0, 7])
    assert (more.seen, more.occurrences) == (OCCURRENCES_KEPT, full.occurrences)
    assert len(set(more.occurrences)) == OCCURRENCES_KEPT
    assert len(more.model_dump_json()) < 12_300
    again = memory("The lead is Kim.", occurrence="o9999")
    stored = full.changed(id=item_id("t", again), confidence=0.5)
    known = Known(entries={stored.id: stored}, deletions={})
    [planned] = plan(batch(again), known, policy=WritePolicy(), at=NOW).items
    assert (planned.decision, planned.reason) == (Decision.REINFORCE, "it is counted up to 1,024 times")
    assert observed(stored, stored.id, again, batch(again)) == stored, "nor does it become surer"


def test_a_memory_that_was_replaced_comes_back_only_on_purpose() -> None:
    kim, lee = memory("The lead is Kim."), memory("The lead is Lee.")
    heir = believed(lee)
    stored = believed(kim, state=State.SUPERSEDED, superseded_by=heir.id)
    known = Known(entries={stored.id: stored, heir.id: heir}, deletions={})

    def decided(item: MemoryItem, known: Known = known) -> tuple[Decision, str]:
        [planned] = plan(batch(item), known, policy=WritePolicy(), at=NOW).items
        return planned.decision, planned.reason

    anew = kim.changed(occurrence="o2")
    for retried_or_said_in_passing in (kim, kim.changed(supersedes=heir.id), anew):
        decision, reason = decided(retried_or_said_in_passing)
        assert decision is Decision.REJECT
        assert f"it was replaced by {heir.id}" in reason
    assert decided(anew.changed(supersedes=heir.id)) == (Decision.SUPERSEDE, "")
    purged = Known(entries={stored.id: stored}, deletions={})
    assert decided(anew, purged) == (Decision.REINFORCE, "")


def test_an_observation_after_the_end_gives_a_new_one() -> None:
    def until(occurrence: str, day: int, end: int | None) -> MemoryItem:
        moment = {"occurred_at": NOW + timedelta(days=day), "valid_until": NOW + timedelta(days=end) if end else None}
        return memory("Deploys are frozen.", occurrence=occurrence).changed(**moment)

    def ends(*items: MemoryItem) -> datetime | None:
        entry: Entry | None = None
        for item in items:
            entry = observed(entry, "mem_1", item, batch(item))
        return entry.valid_until if entry else None

    assert ends(until("1", 0, 5), until("2", 7, 9)) == NOW + timedelta(days=9)
    assert ends(until("1", 0, 5), until("2", 7, None)) is None, "it ended, and holds again"
    assert ends(until("1", 0, 5), until("2", 3, 9)) == NOW + timedelta(days=9)
    assert ends(until("1", 0, 5), until("2", 3, None)) == NOW + timedelta(days=5), "who names no end denies none"
    assert ends(until("1", 3, 9), until("2", 0, 5)) == NOW + timedelta(days=9), "a late word is not the last"


def test_a_memory_cannot_replace_itself() -> None:
    item = memory("The lead is Kim.")
    [planned] = plan(batch(item.changed(supersedes=item_id("t", item))), NOTHING, policy=WritePolicy(), at=NOW).items
    assert planned.decision is Decision.REJECT


def test_of_two_observations_of_one_moment_the_later_one_counts() -> None:
    first = memory("Deploys are frozen.", occurrence="1").changed(valid_until=NOW + timedelta(days=1))
    second = memory("Deploys are frozen.", occurrence="2").changed(valid_until=NOW + timedelta(days=2))
    entry = observed(observed(None, "mem_1", first, batch(first)), "mem_1", second, batch(second))
    assert entry.valid_until == NOW + timedelta(days=2)


@pytest.mark.parametrize(("hours", "refused"), [(24, False), (25, True), (24 * 365 * 74, True)])
def test_an_observation_is_at_most_a_day_ahead_of_its_acceptance(hours: int, refused: bool) -> None:
    item = record("p", "o", NOW + timedelta(hours=hours))
    accepted = Batch(tenant="t", key="k", items=(memory("It rains."), item), accepted_at=NOW)
    [_, planned] = plan(accepted, NOTHING, policy=WritePolicy(), at=NOW).items
    assert (planned.decision is Decision.REJECT) is refused
    assert planned.reason.startswith("PRD105 items[1].occurred_at:") is refused


def test_items_of_one_batch_are_recorded_one_after_the_other() -> None:
    told = Batch(tenant="t", key="k", items=(record("one", "o"), record("two", "o")), accepted_at=NOW)
    decided = plan(told, NOTHING, policy=WritePolicy(), at=NOW)
    one, two = (entry for entry, _ in applied(told, decided, {}).values())
    assert one.last_seen == two.last_seen
    assert one.newest < two.newest


def test_a_late_word_about_an_earlier_day_is_not_the_newest() -> None:
    early, late = record("p", "o1", NOW - timedelta(days=1)), record("p", "o2", NOW)
    entry = observed(None, "exec_1", late, batch(late), NOW)
    after = observed(entry, "exec_1", early, batch(early), NOW + timedelta(hours=1))
    assert (after.newest, after.seen) == (entry.newest, 2)


def test_each_item_is_planned_in_its_place_at_the_versions_of_what_it_touches() -> None:
    kim, lee, new = memory("The lead is Kim."), memory("The lead is Lee."), memory("It rains.")
    stored = believed(kim, version=7)
    again, replacing = kim.changed(occurrence="o2"), lee.changed(supersedes=stored.id)
    doubted = memory("Perhaps.", confidence=0.5)
    offered = Batch(tenant="t", key="k", items=(new, again, UnusableItem(reason="no text"), doubted, replacing))
    known = Known(entries={stored.id: stored}, deletions={})
    decided = plan(offered, known, policy=WritePolicy(), at=NOW, epoch=3)
    assert (decided.at, decided.epoch) == (NOW, 3)
    assert decided.items == (
        PlannedItem(index=0, decision=Decision.INSERT, target=item_id("t", new)),
        PlannedItem(index=1, decision=Decision.REINFORCE, target=stored.id),
        PlannedItem(index=2, decision=Decision.REJECT, reason="no text"),
        PlannedItem(
            index=3,
            decision=Decision.REJECT,
            reason="PRD105 items[3].confidence: 0.5 is below 0.7 (verify it first)",
        ),
        PlannedItem(index=4, decision=Decision.SUPERSEDE, target=item_id("t", lee)),
    )
    assert decided.expected == {item_id("t", new): 0, stored.id: 7, item_id("t", lee): 0}


def test_what_waits_for_a_person_keeps_its_place_and_touches_nothing() -> None:
    offered = Batch(tenant="t", key="k", items=(UnusableItem(reason="tag health", held=True), memory("It rains.")))
    decided = plan(offered, Known(entries={}, deletions={}), policy=WritePolicy(), at=NOW)
    assert decided.items[0] == PlannedItem(index=0, decision=Decision.HOLD, reason="tag health")
    assert list(decided.expected) == [decided.items[1].target]


def reason(item: MemoryItem | PatternItem, known: Known, **about: object) -> str:
    [planned] = plan(batch(item).changed(**about), known, policy=WritePolicy(), at=NOW).items
    assert planned.decision is Decision.REJECT
    return planned.reason


def test_why_a_memory_cannot_replace_another() -> None:
    kim, item = memory("The lead is Kim."), memory("The lead is Lee.")
    of_kim, field = item_id("t", kim), "PRD105 items[0].supersedes: "
    item = item.changed(supersedes=of_kim)
    none = f"{field}{of_kim}: no such memory of this user"
    assert reason(item, NOTHING) == none
    happened = observed(None, of_kim, record("p", "o"), batch(kim))
    assert reason(item, Known(entries={of_kim: happened}, deletions={})) == none
    itself = believed(memory("The lead is Lee."))
    known = Known(entries={itself.id: itself}, deletions={})
    assert reason(item.changed(supersedes=itself.id), known) == f"{field}{itself.id}: a memory cannot replace itself"
    for gone in (believed(kim).forgotten("expired", NOW), believed(kim).superseded("mem_other", NOW)):
        known = Known(entries={of_kim: gone}, deletions={})
        assert reason(item, known) == f"{field}{of_kim}: that memory is no longer believed"
    replaced = Known(entries={of_kim: believed(kim).superseded(item_id("t", item), NOW)}, deletions={})
    [again] = plan(batch(item), replaced, policy=WritePolicy(), at=NOW).items
    assert again.decision is Decision.SUPERSEDE, "by this one already"


def test_why_an_observation_is_refused() -> None:
    ahead = record("p", "o", NOW + timedelta(days=2))
    assert reason(ahead, NOTHING, accepted_at=NOW) == (
        "PRD105 items[0].occurred_at: 2026-05-03 is more than a day ahead (give the moment at which it was observed)"
    )
    item = memory("The lead is Kim.")
    gone = Deletion(
        id=item_id("t", item), at=NOW, reason="asked for", sweep="r", occurrences=(occurrence_of("t", item),)
    )
    known = Known(entries={}, deletions={gone.id: gone})
    assert reason(item, known) == "it was forgotten on 2026-05-01: asked for"


def test_a_sweep_that_has_logged_and_not_yet_forgotten_refuses_nothing() -> None:
    item = memory("The lead is Kim.")
    stored = believed(item)
    line = Deletion(id=stored.id, at=NOW, reason="expired", sweep="r", occurrences=stored.occurrences)
    known = Known(entries={stored.id: stored}, deletions={stored.id: line})
    [planned] = plan(batch(item), known, policy=WritePolicy(), at=NOW).items
    assert (planned.decision, planned.reason) == (Decision.REINFORCE, "this observation is known already")


def test_what_an_attempt_wrote_is_planned_as_it_was() -> None:
    low = memory("Perhaps.", confidence=0.5)
    stored = believed(low, operations=("mine",))
    known = Known(entries={stored.id: stored}, deletions={}, operation="mine")
    [planned] = plan(batch(low), known, policy=WritePolicy(), at=NOW).items
    assert planned.decision is Decision.REINFORCE
    assert reason(low, known.changed(operation="another's"))


def test_a_memory_just_at_the_bar_is_believed() -> None:
    [planned] = plan(batch(memory("Surely.", confidence=0.7)), NOTHING, policy=WritePolicy(), at=NOW).items
    assert planned.decision is Decision.INSERT


def test_a_plan_is_applied_to_what_it_writes_whatever_stands_between() -> None:
    kim, lee = memory("The lead is Kim."), memory("The lead is Lee.")
    stored = believed(kim)
    replacing = lee.changed(supersedes=stored.id)
    offered = Batch(
        tenant="t",
        key="k",
        items=(UnusableItem(reason="r"), replacing, kim.changed(occurrence="o2"), kim.changed(occurrence="o3")),
    )
    decided = plan(offered, Known(entries={stored.id: stored}, deletions={}), policy=WritePolicy(), at=NOW)
    found = applied(offered, decided, {stored.id: stored})
    replaced, decision = found[stored.id]
    assert isinstance(replaced, Memory)
    assert (replaced.state, replaced.superseded_by) == (State.SUPERSEDED, item_id("t", lee))
    assert (replaced.seen, decision) == (3, Decision.REINFORCE)
    assert found[item_id("t", lee)][1] is Decision.SUPERSEDE


def test_what_was_forgotten_before_it_is_replaced_stays_forgotten() -> None:
    kim, lee, rain = memory("The lead is Kim."), memory("The lead is Lee."), memory("It rains.")
    stored, other = believed(kim), believed(rain)
    offered = batch(lee.changed(supersedes=stored.id), memory("It snows.").changed(supersedes=other.id))
    known = Known(entries={stored.id: stored, other.id: other}, deletions={})
    decided = plan(offered, known, policy=WritePolicy(), at=NOW)
    found = applied(offered, decided, {stored.id: stored.forgotten("expired"), other.id: other})
    assert stored.id not in found
    assert found[other.id][0].state is State.SUPERSEDED


def test_an_end_at_the_very_moment_of_an_observation_is_refuted_by_it() -> None:
    first = memory("Deploys are frozen.", occurrence="1").changed(valid_until=NOW)
    again = memory("Deploys are frozen.", occurrence="2")
    assert observed(observed(None, "m", first, batch(first)), "m", again, batch(again)).valid_until is None


def test_what_is_new_is_stored_with_all_that_was_said_of_it() -> None:
    end = NOW + timedelta(days=9)
    more: dict[str, Any] = {"importance": 0.4, "valid_until": end, "confidence": 0.8}
    told = memory("The lead is Kim.", supersedes="mem_old").changed(
        **more, tags=("team",), source=Source.LEARNED, memory_type=MemoryType.OUTCOME
    )
    happened = record("p", "o2").changed(**more, intent="audit", summary="saw it")
    offered = Batch(tenant="t", key="k", items=(told,), task="task-1", agent="auditor")
    seen: dict[str, Any] = {"first_seen": NOW, "last_seen": NOW, "recorded_at": end, **more}
    assert observed(None, "m", told, offered, end) == Memory(
        id="m",
        text="The lead is Kim.",
        occurrences=(occurrence_of("t", told),),
        memory_type=MemoryType.OUTCOME,
        source=Source.LEARNED,
        tags=("team",),
        supersedes="mem_old",
        task="task-1",
        **seen,
    )
    assert observed(None, "r", happened, offered, end) == Record(
        id="r",
        text='saw it\nEXEC_MEMORY_JSON="p"',
        occurrences=(occurrence_of("t", happened),),
        lane=Lane.PATTERN,
        key="k",
        payload="p",
        intent="audit",
        task="task-1",
        agent="auditor",
        **seen,
    )


def test_a_later_observation_of_a_record_has_the_last_word_and_an_earlier_one_has_none() -> None:
    first = observed(None, "r", record("p", "o1"), Batch(tenant="t", key="k", items=(record("p", "o1"),), task="one"))
    again = record("p", "o2", NOW + timedelta(days=1)).changed(
        intent="audit", confidence=0.5, summary="saw it", importance=0.9, valid_until=NOW + timedelta(days=3)
    )
    about = Batch(tenant="t", key="k", items=(again,), task="two", agent="auditor")
    entry = observed(first, "r", again, about)
    assert isinstance(entry, Record)
    assert (entry.task, entry.agent, entry.intent, entry.confidence) == ("two", "auditor", "audit", 0.5)
    assert (entry.text, entry.importance) == ('saw it\nEXEC_MEMORY_JSON="p"', 0.9)
    assert (entry.valid_until, entry.first_seen, entry.seen) == (NOW + timedelta(days=3), NOW, 2)
    late = record("p", "o3", NOW - timedelta(days=1))
    after = observed(entry, "r", late, Batch(tenant="t", key="k", items=(late,), task="three"))
    assert after == entry.changed(seen=3, occurrences=after.occurrences, first_seen=late.occurred_at)


def test_each_observation_makes_a_memory_surer_by_a_tenth() -> None:
    entry: Entry | None = None
    for number in range(4):
        item = memory("It rains.", occurrence=f"o{number}", confidence=0.75)
        entry = observed(entry, "m", item, batch(item))
        assert entry.confidence == min(1.0, round(0.75 + 0.1 * number, 6))


def test_the_short_form_of_an_observation_stays_what_it_is_for_ever() -> None:
    assert occurrence_of("t_1", memory("x", occurrence="o1")) == "mGjEnwZM"


def test_what_an_attempt_has_replaced_is_planned_again_as_it_is() -> None:
    kim, lee = memory("The lead is Kim."), memory("The lead is Lee.", occurrence="o2")
    new = believed(lee, operations=("mine",))
    old = believed(kim).superseded(new.id, NOW).changed(version=2, operations=("mine",))
    other = believed(memory("The lead is Bo.")).superseded("mem_x", NOW).changed(operations=("mine",))
    known = Known(entries={one.id: one for one in (new, old, other)}, deletions={}, operation="mine")
    decided = plan(batch(lee), known, policy=WritePolicy(), at=NOW)
    assert (decided.items[0].target, decided.items[0].over) == (new.id, (old.id,))
    assert decided.expected == {new.id: 1, old.id: 2}
    written = applied(batch(lee), decided, known.entries)
    assert {identifier: entry for identifier, (entry, _) in written.items()} == {new.id: new, old.id: old}
    # The control: what another operation has replaced is none of this one's business.
    another = plan(batch(lee), known.changed(operation="another's"), policy=WritePolicy(), at=NOW)
    assert another.items[0].over == ()
    assert decided.epoch == 0


@pytest.mark.parametrize(
    "texts",
    [
        ("Kim lives in Oslo.", "Kim works at Acme.", "Kim likes peanuts."),
        ("The build runs on Jenkins.", "The build takes ten minutes.", "The build no longer needs a licence."),
        ("If the boiler is cold, call Ann.", "If the boiler is cold, call Ben."),
        ("Set the clock of the tower.", "Read the clock of the tower."),
        ("This is a tuple of five.", "This is a tuple of five, or None where the feature was dropped."),
    ],
)
def test_what_one_message_says_of_the_same_thing_is_kept_each_for_itself(texts: tuple[str, ...]) -> None:
    items = [_asserting(text) for text in texts]
    planned = plan(batch(*items), NOTHING, policy=WritePolicy(), at=NOW).items
    assert [one.decision for one in planned] == [Decision.INSERT] * len(texts)
    assert len({one.target for one in planned}) == len(texts)


def test_what_one_message_says_again_in_other_words_counts_once() -> None:
    items = [_asserting(text) for text in ("In May the office closes early.", "The office closes early in May.")]
    first, again = plan(batch(*items), NOTHING, policy=WritePolicy(), at=NOW).items
    assert (first.decision, again.decision, again.target) == (Decision.INSERT, Decision.REINFORCE, first.target)
    assert again.reason == "this observation is known already"


def _asserting(text: str) -> MemoryItem:
    return memory(text, occurrence="chat/7#1").changed(assertion=assertion_of(text, NOW).assertion)


@pytest.mark.parametrize(
    ("by", "kind", "state", "decision"),
    [
        (ActorKind.AGENT, MemoryType.CONSTRAINT, State.CURRENT, Decision.HOLD),
        (ActorKind.SYSTEM, MemoryType.CONSTRAINT, State.CURRENT, Decision.HOLD),
        (ActorKind.PERSON, MemoryType.CONSTRAINT, State.CURRENT, Decision.SUPERSEDE),
        (ActorKind.AGENT, MemoryType.FACT, State.CURRENT, Decision.SUPERSEDE),
    ],
)
def test_only_a_person_has_a_constraint_replaced_by_naming_it(
    by: ActorKind, kind: MemoryType, state: State, decision: Decision
) -> None:
    rule = believed(memory("Never email customers on Sundays."), memory_type=kind, state=state)
    known = Known(entries={rule.id: rule}, deletions={})
    offered = batch(memory("Emails are sent on any day.", supersedes=rule.id)).changed(by=Actor(kind=by, id="x"))
    [planned] = plan(offered, known, policy=WritePolicy(), at=NOW).items
    assert planned.decision is decision
    assert (planned.reason == f"it would lift a constraint: {rule.id}") is (decision is Decision.HOLD)
    task = offered.changed(by=None, task="task-1")
    [planned] = plan(task, known, policy=WritePolicy(), at=NOW).items
    assert (planned.decision is Decision.HOLD) is (kind is MemoryType.CONSTRAINT), "a task is an agent"


ADA = "t_ada"


@pytest.mark.parametrize(
    ("by", "authors", "decision"),
    [
        (ActorKind.AGENT, (ADA,), Decision.HOLD),
        (ActorKind.AGENT, (), Decision.SUPERSEDE),
        (ActorKind.PERSON, (ADA,), Decision.SUPERSEDE),
    ],
)
def test_what_another_member_said_is_replaced_by_no_agent_that_names_it(
    by: ActorKind, authors: tuple[str, ...], decision: Decision
) -> None:
    said = believed(memory("The standup is at ten.")).changed(authors=authors)
    offered = batch(memory("The team meets at noon.", supersedes=said.id)).changed(by=Actor(kind=by, id="x"))
    [planned] = plan(offered, Known(entries={said.id: said}, deletions={}), policy=WritePolicy(), at=NOW).items
    assert planned.decision is decision
    assert (planned.reason == f"it replaces what somebody else said: {said.id}") is (decision is Decision.HOLD)


def test_an_agent_that_names_something_else_lifts_no_constraint_by_the_way() -> None:
    rule = believed(asserting("The deploy window is on Monday."), memory_type=MemoryType.CONSTRAINT)
    other = believed(memory("Lunch is at noon."))
    known = Known(entries={rule.id: rule, other.id: other}, deletions={})
    item = asserting("The deploy window is on Friday.").changed(
        supersedes=other.id, occurred_at=NOW + timedelta(days=1)
    )
    offered = batch(item).changed(task="task-1")
    [planned] = plan(offered, known, policy=WritePolicy(), at=NOW).items
    assert (planned.decision, planned.reason) == (Decision.HOLD, f"it would lift a constraint: {rule.id}")


def asserting(content: str) -> MemoryItem:
    return memory(content).changed(assertion=assertion_of(content, NOW).assertion)


def test_what_names_an_exported_entry_and_says_something_else_is_an_observation_like_any_other() -> None:
    stored = believed(memory("Lunch is at noon."))
    known = Known(entries={stored.id: stored}, deletions={})
    for content, reason in (("lunch is at noon", "it is there already"), ("Dinner is at eight.", "")):
        item = memory(content, occurrence=import_of(stored.id))
        decided = plan(batch(item), known, policy=WritePolicy(), at=NOW)
        assert decided.items[0].reason == reason
        written = applied(batch(item), decided, {stored.id: stored})
        assert ([entry for entry, _ in written.values()] == [stored]) is bool(reason)


def test_what_an_attempt_that_died_has_made_of_a_later_item_does_not_reject_an_earlier_one() -> None:
    def stated(text: str, day: int) -> MemoryItem:
        at = NOW + timedelta(days=day)
        return memory(text, occurrence=f"o{day}").changed(occurred_at=at, assertion=assertion_of(text, at).assertion)

    info, debug = stated("The log level is info.", 0), stated("The log level is debug.", 1)
    offered, later = batch(info, debug), believed(debug, operations=("job",))
    first = plan(offered, NOTHING, policy=WritePolicy(), at=NOW)
    known = Known(entries={later.id: later}, deletions={}, operation="job")
    again = plan(offered, known, policy=WritePolicy(), at=NOW)
    assert [one.changed(reason="") for one in again.items] == list(first.items)
    assert again.items[1].over == (first.items[0].target,)
    # The control: of another operation, it was said later.
    other = plan(offered, known.changed(operation="other"), policy=WritePolicy(), at=NOW)
    assert other.items[0].decision is Decision.REJECT
