"""What becomes of a statement beside what is believed: by the pure plan, as the writer and recall apply it."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.extraction.statements import stated
from perdure.memory.writing.agreement import Agreement, agreement
from perdure.memory.writing.contradictions import verdict
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Entry, Memory, MemoryType, Source, State
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Decision, PlannedItem
from tests.support.stories import believed, current, stories, written

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)
"""A Wednesday."""

PARTS = 12
"""All of them take half a minute, and beside four other processes longer than a test may take."""
SEEN = stories(Path(__file__).parent / "stories" / "seen.jsonl")


def said(text: str, day: float = 0, **more: Any) -> MemoryItem:
    at = NOW + timedelta(days=day)
    stated = assertion_of(text, at)
    times = {"valid_from": stated.valid_from, "valid_until": stated.valid_until}
    about = {"assertion": stated.assertion, "occurrence": f"{text} {day}", "occurred_at": at}
    return MemoryItem.model_validate({"content": text, **about, **times, **more})


def after(*items: MemoryItem, stored: dict[str, Entry] | None = None) -> tuple[dict[str, Entry], list[PlannedItem]]:
    """Return what is stored after items that came one by one, and the decisions on them."""
    decisions: list[PlannedItem] = []
    stored = stored or {}
    for item in items:
        stored, decided = written("t", item, stored=stored)
        decisions += decided
    return stored, decisions


def texts(stored: dict[str, Entry], day: float) -> set[str]:
    return {memory.text for memory in current(stored, NOW + timedelta(days=day))}


def entry(stored: dict[str, Entry], item: MemoryItem) -> Memory:
    found = stored[item_id("t", item)]
    assert isinstance(found, Memory)
    return found


def test_there_are_many_stories() -> None:
    assert len(SEEN) > 1_800


@pytest.mark.parametrize("part", range(PARTS))
def test_a_story_ends_with_what_holds(part: int) -> None:
    assert {story.id: found for story in SEEN[part::PARTS] if not (found := believed(story)).right} == {}


def test_a_later_statement_supersedes_an_earlier_one_and_both_say_so() -> None:
    old, new = said("My team lead is Wanjiru."), said("My team lead is Paavo since the split.", 70)
    stored, [first, second] = after(old, new)
    assert (first.decision, second.decision) == (Decision.INSERT, Decision.SUPERSEDE)
    assert second.over == (entry(stored, old).id,)
    assert (entry(stored, old).state, entry(stored, old).superseded_by) == (State.SUPERSEDED, entry(stored, new).id)
    assert (entry(stored, new).state, entry(stored, new).supersedes) == (State.CURRENT, entry(stored, old).id)
    assert entry(stored, old).text == old.content, "it stays readable"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("If it rains, dinner is at six.", "If it is sunny, dinner is at eight."),
        ("Dinner is at six if it rains.", "Dinner is at eight if it is sunny."),
        ("If the boiler is cold, call Ann.", "If the boiler is hot, call Ben."),
        ("Dinner is at six if it rains.", "Dinner is at eight."),
        ("Convert prices to euros.", "Set the language to French."),
        ("It is a small office.", "It is a quick lunch."),
    ],
)
def test_what_is_of_another_thing_or_under_another_condition_stands_beside_it(one: str, other: str) -> None:
    stored, _ = after(said(one), said(other, 1))
    assert texts(stored, 2) == {one, other}


def test_what_holds_under_one_condition_is_replaced_under_it() -> None:
    stored, _ = after(said("If it rains, dinner is at six."), said("If it rains, dinner is at eight.", 1))
    assert texts(stored, 2) == {"If it rains, dinner is at eight."}


def test_a_change_in_other_words_replaces_nothing_where_two_things_can_be_meant() -> None:
    one, other = said("The choir rehearses in St. Olave's hall."), said("The choir rehearses in St. Mary's hall.", 1)
    new = said("Rehearsals of the choir take place at the Kulturhus these days.", 9)
    stored, [_, planned] = after(one, new)
    assert (planned.decision, planned.over) == (Decision.SUPERSEDE, (entry(stored, one).id,)), "the control"
    both = after(one)[0] | after(other)[0]
    _, [planned] = after(new, stored=both)
    assert (planned.decision, planned.over) == (Decision.INSERT, ())


def test_what_is_said_again_in_other_words_is_one_memory() -> None:
    stored, [_, again] = after(said("My barrister is Ms Adeyemi."), said("Ms Adeyemi is my barrister.", 3))
    assert (again.decision, again.reason) == (Decision.REINFORCE, "it says the same")
    [memory] = stored.values()
    assert (memory.seen, memory.confidence) == (2, 1.0)


def test_what_holds_again_supersedes_what_replaced_it() -> None:
    utc, cet = said("Dashboards show times in UTC."), said("Dashboards show times in CET now.", 9)
    in_other_words, verbatim = (
        said("Dashboards show times in UTC again.", 27),
        said("Dashboards show times in UTC.", 27),
    )
    for again in (in_other_words, verbatim):
        stored, decisions = after(utc, cet, again)
        assert decisions[-1].decision is Decision.SUPERSEDE
        assert texts(stored, 28) == {again.content}
        assert entry(stored, cet).superseded_by == entry(stored, again).id
    retried, [refused] = after(utc, stored=after(utc, cet)[0])
    assert refused.decision is Decision.REJECT, "the control: a retry of the first does not bring it back"
    assert texts(retried, 28) == {cet.content}


def test_what_begins_later_replaces_from_then_on() -> None:
    old, new = said("Lunch orders go to Marisol."), said("From next week on lunch orders go to Thabo.", 1)
    stored, [_, planned] = after(old, new)
    assert planned.decision is Decision.SUPERSEDE
    monday = datetime(2026, 5, 11, tzinfo=UTC)
    assert (entry(stored, old).valid_until, entry(stored, old).state) == (monday, State.CURRENT)
    assert (entry(stored, new).supersedes, entry(stored, old).superseded_by) == (
        entry(stored, old).id,
        entry(stored, new).id,
    )
    assert [texts(stored, day) for day in (2, 9)] == [{old.content}, {new.content}]


def test_what_holds_for_a_while_suspends_and_does_not_replace() -> None:
    old = said("The demo runs on host canvas-1.")
    for brief, days in (
        (said("Until Friday the demo runs on host canvas-2.", 1), {0: old, 1.5: None, 4: old}),
        (said("Next week the demo runs on host canvas-2.", 1), {2: old, 6: None, 13: old}),
    ):
        stored, [_, planned] = after(old, brief)
        assert (planned.decision, planned.over) == (Decision.INSERT, (entry(stored, old).id,))
        assert entry(stored, old).superseded_by == ""
        for day, expected in days.items():
            assert texts(stored, day) == {(expected or brief).content} or day == 0
        back, _ = after(said("The demo runs on host canvas-1.", 1.5), stored=stored)
        assert old.content in texts(back, 1.6), "who says it again means that it holds"


SUNDAY = datetime(2026, 5, 10, tzinfo=UTC)


def test_what_has_an_end_and_is_said_again_without_one_leaves_what_holds_after_it() -> None:
    old = said("The demo runs on host canvas-1.")
    brief, again = (
        said("The demo runs on host canvas-2.", day, valid_until=end) for day, end in ((1, SUNDAY), (2, None))
    )
    stored, decided = after(old, brief, again)
    assert decided[2].decision is Decision.REINFORCE
    assert texts(stored, 2.5) == {brief.content}
    assert texts(stored, 6) == {old.content}
    assert entry(stored, old).state is State.CURRENT


def test_what_was_said_earlier_and_comes_late_holds_after_what_ends() -> None:
    brief = said("The demo runs on host canvas-2.", 1, valid_until=SUNDAY)
    usual = said("The demo runs on host canvas-1.")
    stored, [_, planned] = after(brief, usual)
    assert (planned.decision, [one.by for one in planned.under]) == (Decision.INSERT, [entry(stored, brief).id])
    assert [texts(stored, day) for day in (2, 6)] == [{brief.content}, {usual.content}]
    in_order, _ = after(usual, brief)
    assert [texts(in_order, day) for day in (2, 6)] == [{brief.content}, {usual.content}]
    shorter = usual.changed(valid_until=NOW + timedelta(days=2))
    _, [_, refused] = after(brief, shorter)
    assert refused.decision is Decision.REJECT, "it holds at no time"
    _, [_, obeyed] = after(brief, usual.changed(**CONSTRAINT))
    assert obeyed.decision is Decision.REJECT, "a constraint is not put aside"


def test_of_two_statements_of_one_moment_the_second_is_held() -> None:
    stored, [first, second] = after(said("My shoe size is 38."), said("My shoe size is 45."))
    assert (first.decision, second.decision, second.target) == (Decision.INSERT, Decision.HOLD, "")
    assert second.reason.startswith("it was said at the same moment as what it contradicts: mem_")
    assert texts(stored, 1) == {"My shoe size is 38."}


def test_what_was_said_earlier_and_comes_late_is_not_believed() -> None:
    stored, [_, late] = after(said("My shoe size is 38.", 3), said("My shoe size is 45.", 1))
    assert (late.decision, texts(stored, 4)) == (Decision.REJECT, {"My shoe size is 38."})


TOOL: dict[str, Any] = {"source": Source.LEARNED}
GUESS: dict[str, Any] = {"source": Source.INFERRED}
PREFERENCE: dict[str, Any] = {"memory_type": MemoryType.PREFERENCE}
CONSTRAINT: dict[str, Any] = {"memory_type": MemoryType.CONSTRAINT}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (said("The app targets Android 12."), said("The app targets Android 14.", 1, **TOOL), Decision.SUPERSEDE),
        (said("The app targets Android 12."), said("The app targets Android 14.", 1, **GUESS), Decision.HOLD),
        (said("The app targets 12.", **TOOL), said("The app targets 14.", 1, **GUESS), Decision.HOLD),
        (said("The app targets 12.", **GUESS), said("The app targets 14.", 1, **GUESS), Decision.SUPERSEDE),
        (said("The app targets 12.", **GUESS), said("The app targets 14.", 1, **TOOL), Decision.SUPERSEDE),
        (said("The app targets 12.", **TOOL), said("The app targets 14.", 1), Decision.SUPERSEDE),
        (said("I like olives."), said("I don't like olives.", 1, **TOOL), Decision.HOLD),
        (said("Tea is at 4.", **PREFERENCE), said("Tea is at 5.", 1, **TOOL), Decision.HOLD),
        (said("We never deploy on Fridays.", **CONSTRAINT), said("We deploy on Fridays.", 1), Decision.HOLD),
        (said("Uploads end at 9.", **CONSTRAINT), said("Uploads end at 8.", 1, **CONSTRAINT), Decision.SUPERSEDE),
    ],
)
def test_who_says_it_decides_whether_a_person_is_asked(old: MemoryItem, new: MemoryItem, expected: Decision) -> None:
    stored, [_, planned] = after(old, new)
    assert planned.decision is expected
    assert (old.content in texts(stored, 2)) is (expected is Decision.HOLD)


@pytest.mark.parametrize("kind", [None, *ActorKind])
@pytest.mark.parametrize("session", ["", "s"])
def test_only_what_a_person_says_lifts_a_constraint(kind: ActorKind | None, session: str) -> None:
    old, new = said("Uploads end at 9.", **CONSTRAINT), said("Uploads end at 8.", 1, **CONSTRAINT)
    stored, _ = written("t", old, stored={})
    by = kind and Actor(kind=kind)
    _, [planned] = written("t", new, stored=stored, by=by, session=session)
    # What a schedule offers of a session is what a person said in it.
    is_a_persons = kind is ActorKind.PERSON or (kind is ActorKind.SCHEDULE and bool(session))
    assert planned.decision is (Decision.SUPERSEDE if is_a_persons else Decision.HOLD)


ADA, KIM = "t_ada", "t_kim"


def told_by(*statements: tuple[str, MemoryItem]) -> tuple[dict[str, Entry], PlannedItem]:
    """Return what a shared memory has after its members' statements, and the last decision."""
    stored: dict[str, Entry] = {}
    decided: list[PlannedItem] = []
    for author, item in statements:
        stored, planned = written("t", item, stored=stored, stated_by=author)
        decided += planned
    return stored, decided[-1]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([(ADA, "The standup is at 9."), (ADA, "The standup is at 10.")], Decision.SUPERSEDE),
        ([(ADA, "The standup is at 9."), (KIM, "The standup is at 10.")], Decision.HOLD),
        ([("", "The standup is at 9."), ("", "The standup is at 10.")], Decision.SUPERSEDE),
        ([(ADA, "The standup is at 9."), (KIM, "The standup is at 9."), (ADA, "The standup is at 10.")], Decision.HOLD),
        ([(ADA, "The standup is at 9."), (KIM, "The standup is at 9.")], Decision.REINFORCE),
    ],
    ids=["oneself", "another", "own memory", "confirmed by another", "the same"],
)
def test_what_another_member_said_is_replaced_by_nobody_without_a_person(
    statements: list[tuple[str, str]], expected: Decision
) -> None:
    items = [(author, said(text, day)) for day, (author, text) in enumerate(statements)]
    stored, planned = told_by(*items)
    assert planned.decision is expected
    first = entry(stored, items[0][1])
    assert (first.state is State.CURRENT) is (expected is not Decision.SUPERSEDE)
    if expected is Decision.HOLD:
        assert planned.reason == f"it contradicts what somebody else said: {first.id}"
    assert first.authors == tuple(
        dict.fromkeys(author for author, one in items if author and one.content == first.text)
    )


def test_what_tools_find_out_in_the_tasks_of_several_members_has_no_author() -> None:
    old, new = said("The app targets 12.", **TOOL), said("The app targets 14.", 1, **TOOL)
    stored, planned = told_by((ADA, old), (KIM, new))
    assert (planned.decision, entry(stored, new).authors) == (Decision.SUPERSEDE, ())


@pytest.mark.parametrize(
    ("by", "session", "expected"),
    [
        (Actor(kind=ActorKind.PERSON, id="ada"), "", Decision.SUPERSEDE),
        (Actor(kind=ActorKind.AGENT, id="task"), "", Decision.HOLD),
        (Actor(kind=ActorKind.AGENT, id="task"), "s", Decision.HOLD),
        (Actor(kind=ActorKind.SCHEDULE, id="promotion"), "s", Decision.SUPERSEDE),
        (Actor(kind=ActorKind.SYSTEM), "", Decision.HOLD),
    ],
    ids=["person", "agent", "agent in a session", "what a person said in a session", "program"],
)
def test_only_a_person_has_a_constraint_lifted_by_another_one(by: Actor, session: str, expected: Decision) -> None:
    old, new = said("Uploads end at 9.", **CONSTRAINT), said("Uploads end at 8.", 1, **CONSTRAINT)
    stored, _ = written("t", old, stored={})
    stored, [planned] = written("t", new, stored=stored, by=by, session=session)
    assert planned.decision is expected
    assert planned.reason == (
        "" if expected is Decision.SUPERSEDE else f"it would lift a constraint: {item_id('t', old)}"
    )


def test_a_doubtful_contradiction_replaces_only_what_alone_can_be_meant() -> None:
    fork, tram = said("I take the bus to work."), said("I take the tram to work these days.", 1)
    stored, _ = after(said("The tenant is a bakery."), said("The tenant is a florist now.", 1))
    assert texts(stored, 2) == {"The tenant is a florist now."}
    stored, _ = after(said("The tenant is a bakery."), said("The tenant is a florist.", 1))
    assert len(texts(stored, 2)) == 2, "nothing says that anything has changed"
    several = (
        said("The tenant is a bakery."),
        said("The tenant is a member.", 1),
        said("The tenant is a florist now.", 2),
    )
    assert len(texts(after(*several)[0], 3)) == 3
    assert texts(after(fork, tram)[0], 2) == {tram.content}


def test_statements_for_other_scopes_are_apart() -> None:
    one, other = said("The limit is 5.", scopes=["eu"]), said("The limit is 9.", 1, scopes=["us"])
    assert len(texts(after(one, other)[0], 2)) == 2


def test_who_says_what_it_replaces_has_decided() -> None:
    old = said("We never deploy on Fridays.", **CONSTRAINT)
    new = said("We deploy on Fridays.", 1, supersedes=item_id("t", old))
    stored, [_, planned] = after(old, new)
    assert (planned.decision, texts(stored, 2)) == (Decision.SUPERSEDE, {new.content})


_SENTENCES = st.sampled_from(
    [
        *("The standup is at 9.", "The standup is at 10 now.", "We moved the standup to 11."),
        *("The standup is not at 10.", "Until Friday the standup is at 12.", "From next week on the standup is at 8."),
        *("Next week the standup is at 7.", "I like tea.", "I don't like tea any more.", "I like tea again."),
        *("I prefer tea over coffee.", "I prefer coffee over tea.", "My lead is Ana.", "Bo is my lead."),
        *("My lead is in Oslo.", "The demo is at 9."),
    ]
)
_TOLD = st.lists(st.tuples(_SENTENCES, st.integers(1, 6)), max_size=8)


def in_time(told: list[tuple[str, int]]) -> list[MemoryItem]:
    day, items = 0, list[MemoryItem]()
    for text, days in told:
        day += days
        items.append(said(text, day))
    return items


_FROM_THEN_ON = ("From next week on the standup is at 8.", 1)


@given(_TOLD)
@example([("The standup is at 9.", 5), _FROM_THEN_ON, ("The standup is at 9.", 6), _FROM_THEN_ON])
def test_nothing_that_contradicts_itself_is_believed_at_one_moment(told: list[tuple[str, int]]) -> None:
    stored, _ = after(*in_time(told))
    last = sum(days for _, days in told)
    for half_days in range(60):
        holding = current(stored, NOW + timedelta(days=last + half_days / 2))
        for one, other in permutations(holding, 2):
            assert one.assertion is not None
            assert other.assertion is not None
            assert agreement(one.assertion, other.assertion) is not Agreement.CONTRADICTION, (half_days, one, other)
    for memory in stored.values():
        assert isinstance(memory, Memory)
        if memory.state is State.SUPERSEDED:
            assert memory.superseded_by in stored


_NINE, _TEN, _UNTIL = "The standup is at 9.", "The standup is at 10 now.", "Until Friday the standup is at 12."


@given(_TOLD)
@example([(_NINE, 2), (_UNTIL, 1), (_NINE, 2), (_NINE, 2), (_UNTIL, 1), (_NINE, 2)])
@example([(_TEN, 1), (_NINE, 1), (_TEN, 1), ("We moved the standup to 11.", 1)])
def test_a_batch_in_time_order_is_believed_as_if_it_had_come_one_by_one(told: list[tuple[str, int]]) -> None:
    items = in_time(told)
    if items:
        together, _ = written("t", *items, stored={})
        assert together == after(*items)[0]


@given(_TOLD)
@example([("I like tea.", 1), ("I prefer tea over coffee.", 1), ("I don't like tea any more.", 1)])
def test_what_is_told_again_changes_nothing(told: list[tuple[str, int]]) -> None:
    items = in_time(told)
    stored, _ = after(*items)
    for item in items:
        again, _ = written("t", item, stored=stored)
        assert {one.text for one in again.values()} == {one.text for one in stored.values()}
        assert {one.id: one.state for one in again.values()} == {one.id: one.state for one in stored.values()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"memory_type": MemoryType.CONSTRAINT}, {}),
        ({}, {"source": Source.INFERRED}),
        ({"occurred_at": NOW + timedelta(days=1)}, {}),
    ],
    ids=["a constraint lifted", "a guess against a word", "the same moment"],
)
def test_a_person_settles_a_doubt_against_all_that_was_said_before(old: dict[str, Any], new: dict[str, Any]) -> None:
    standing = said("The deploy window is on Monday.", **old)
    doubted = said("The deploy window is on Tuesday.", 1, **new)
    stored, _ = after(standing)
    memory = entry(stored, standing)
    assert verdict(doubted, "mem_2", [memory]).decision is Decision.HOLD
    # It was said again since, which by itself would decide against what is approved.
    again = memory.changed(last_seen=NOW + timedelta(days=3))
    assert verdict(doubted, "mem_2", [again]).decision is Decision.REJECT
    settled = verdict(doubted, "mem_2", [again], settled_at=NOW + timedelta(days=4))
    assert (settled.decision, settled.over) == (Decision.SUPERSEDE, (again,))
    late = verdict(doubted, "mem_2", [again], settled_at=NOW + timedelta(days=2))
    assert late.decision is Decision.REJECT, "said after the approval"


def agreed(before: str, after: str) -> Agreement:
    """Return how what one text asserts stands to what an earlier one does."""
    old, new = (assertion_of(text, NOW).assertion for text in (before, after))
    assert old is not None
    assert new is not None
    return agreement(old, new)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("I prefer tea over coffee.", "I prefer coffee over tea.", Agreement.CONTRADICTION),
        ("I prefer green tea over black coffee.", "I prefer black coffee over green tea.", Agreement.CONTRADICTION),
        ("I prefer green tea over black coffee.", "I prefer black coffee over white tea.", Agreement.APART),
        ("I prefer tea over coffee.", "I prefer coffee over milk.", Agreement.APART),
        ("I prefer tea over coffee.", "I prefer coffee.", Agreement.LIKELY),
        ("I prefer coffee.", "I prefer tea over coffee.", Agreement.LIKELY),
        ("I prefer tea over green coffee.", "I prefer coffee over tea.", Agreement.APART),
        ("I prefer tea over coffee in the morning.", "I prefer coffee over tea.", Agreement.LIKELY),
        ("I prefer tea over coffee in the morning.", "I prefer coffee over tea in the evening.", Agreement.APART),
    ],
)
def test_what_is_preferred_is_turned_round_only_where_both_are_named(before: str, after: str, found: Agreement) -> None:
    assert agreed(before, after) is found


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("Room 1 of house 2 has 9 windows.", "Room 2 of house 1 has 15 windows.", Agreement.APART),
        ("Room 1 of house 2 has 9 windows.", "Room 2 of house 1 has 9 windows.", Agreement.APART),
        ("Room 1 of house 2 has 9 windows.", "Room 1 of house 2 has 15 windows.", Agreement.CONTRADICTION),
    ],
)
def test_numbers_name_a_thing_in_their_order(before: str, after: str, found: Agreement) -> None:
    assert agreed(before, after) is found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The backup runs at 2:00.", "The backup runs at 14:00."),
        ("The app integrates with Slack.", "The app integrates with Jira."),
        ("The house has 3 bedrooms.", "The house has 2 bathrooms."),
        ("The recipe needs 3 eggs.", "The recipe needs 2 onions."),
        ("The meeting is in Berlin.", "The meeting is in room 4."),
        ("I don't eat nuts.", "I eat pine nuts."),
        ("Don't use tabs.", "Use tabs in Makefiles."),
    ],
)
def test_what_can_both_be_is_not_swallowed_and_mostly_kept(before: str, after: str) -> None:
    found: dict[str, Entry] = {}
    for day, text in enumerate((before, after)):
        at = NOW + timedelta(days=day)
        item = stated(MemoryItem(content=text, source=Source.EXPLICIT, occurrence=text, occurred_at=at))
        found, _ = written("u", item, stored=found)
    texts = {memory.text for memory in current(found, NOW + timedelta(days=2))}
    assert after in texts
    assert before in texts or "14:00" in after
