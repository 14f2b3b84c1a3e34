"""Events of a task: each is given to one step, in its turn, and none is lost."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.agent.events import HANDLED_KEPT, MOST_BYTES, MOST_KEPT, Events, awaited_by, require_awaited
from perdure.errors import InvalidEvent
from perdure.skills.library import read_skill
from perdure.values.changes import Actor, ActorKind
from perdure.values.events import LARGEST_EVENT, Event, EventBox, event_name

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def rolled(events: Events) -> Events:
    """Return what the next run of the task has."""
    return Events(EventBox.model_validate_json(events.box.model_dump_json()))


NAMES = st.sampled_from("ab")
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("deliver"), NAMES),
        st.tuples(st.just("wait"), NAMES),
        st.tuples(st.just("give up"), st.integers(0, 20)),
        st.tuples(st.just("roll"), st.none()),
    ),
    max_size=60,
)


@settings(max_examples=300)
@given(MOVES)
def test_each_event_ends_one_step_in_order_however_deliveries_waits_and_rollovers_interleave(
    moves: list[tuple[str, Any]],
) -> None:
    events, delivered, begun = Events(EventBox()), dict[str, list[int]](), dict[str, list[str]]()
    open_: dict[str, str] = {}
    got: dict[str, list[tuple[str, int]]] = {}

    def settle() -> None:
        for one in [one for one in open_ if events.has_come(one)]:
            taken, name = events.take(one), open_.pop(one)
            assert taken is not None
            assert taken.name == name
            got.setdefault(name, []).append((one, taken.value))  # pyright: ignore[reportArgumentType]

    for number, (move, what) in enumerate(moves):
        match move:
            case "deliver":
                events.deliver(Event(name=what, value=number), NOW)
                delivered.setdefault(what, []).append(number)
            case "wait":
                branch = f"branch {number}"
                events.wait(branch, what)
                open_[branch] = what
                begun.setdefault(what, []).append(branch)
            case "give up" if open_:
                quitting = list(open_)[int(what) % len(open_)]
                assert events.take(quitting) is None
                begun[open_.pop(quitting)].remove(quitting)
            case _:
                events = rolled(events)
                for waiting, name in open_.items():
                    events.wait(waiting, name)
        settle()
    for name in "ab":
        came, waited = delivered.get(name, []), begun.get(name, [])
        assert got.get(name, []) == list(zip(waited, came, strict=False))
    left = [(one.name, one.value) for one in events.box.kept]
    assert sorted(left) == sorted(
        (name, one) for name in delivered for one in delivered[name][len(got.get(name, [])) :]
    )
    assert events.box.waiting == open_


def test_what_is_waited_for_is_taken_although_nobody_takes_what_came_before() -> None:
    events = Events(EventBox())
    for number in range(MOST_KEPT):
        events.deliver(Event(name=f"sent {number}"), NOW)
    with pytest.raises(InvalidEvent, match="no step has taken"):
        events.check(Event(name="paid"))
    events.wait("branch", "paid")
    events.check(Event(name="paid"))
    events.deliver(Event(name="paid", value=7), NOW)
    taken = events.take("branch")
    assert taken is not None
    assert taken.value == 7


def test_a_name_is_awaited_however_its_template_spells_its_letters() -> None:
    require_awaited("bezahlt f\u00fcr 7", ["bezahlt fu\u0308r ${inputs.order}"])


def test_a_template_awaits_every_name_that_begins_as_it_does() -> None:
    awaited = ["sent", "paid ${inputs.order} by ${inputs.user}"]
    for name in ("sent", "paid 7 by ada", "paid "):
        require_awaited(name, awaited)
    for name in ("sent 7", "pay 7"):
        with pytest.raises(InvalidEvent, match=f"no step of the task waits for '{name}'"):
            require_awaited(name, awaited)


def test_a_branch_that_waits_already_does_not_take_a_second_event() -> None:
    events = Events(EventBox())
    events.wait("branch", "paid")
    events.wait("branch", "paid")
    for value in (1, 2):
        events.deliver(Event(name="paid", value=value), NOW)
    events.wait("branch", "paid")
    taken = events.take("branch")
    assert taken is not None
    assert (taken.value, [one.value for one in events.box.kept]) == (1, [2])


def test_one_id_is_taken_once_in_later_runs_as_well() -> None:
    events = Events(EventBox())
    for value in (1, 2):
        event = Event(name="paid", value=value, id="x")
        events.check(event)
        events.deliver(event, NOW)
    events = rolled(events)
    events.deliver(Event(name="paid", value=3, id="x"), NOW)
    events.deliver(Event(name="paid", value=4), NOW)
    events.deliver(Event(name="paid", value=4), NOW)
    assert [one.value for one in events.box.kept] == [1, 4, 4], "without an id each is one of its own"
    assert (events.delivered, events.delivered_bytes) == (3, 3)
    assert events.box.kept[0].at == NOW
    for number in range(HANDLED_KEPT):
        events.deliver(Event(name="sent", id=str(number)), NOW)
    assert len(events.box.handled) == HANDLED_KEPT
    events.deliver(Event(name="paid", value=5, id="x"), NOW)
    assert events.box.kept[-1].value == 5, "only the last ones are known"


def test_what_there_is_no_room_for_is_refused_and_what_was_taken_is_not() -> None:
    events = Events(EventBox())
    big = Event(name="a", value="x" * (LARGEST_EVENT - 2))
    events.check(big)
    with pytest.raises(InvalidEvent, match=r"value: has 20,001 bytes as JSON .at most 20,000: store it elsewhere"):
        events.check(big.changed(value="x" * (LARGEST_EVENT - 1)))
    with pytest.raises(InvalidEvent, match=r"PRD114 vale: is not a field here .did you mean 'value'"):
        events.check(Event.model_validate({"name": "a", "vale": 1}))
    with pytest.raises(InvalidEvent, match=r"by: has 201 characters"):
        events.check(big.changed(by=Actor(kind=ActorKind.SYSTEM, id="x" * 201)))
    events.wait("one", "a")
    for number in range(MOST_BYTES // LARGEST_EVENT - 1):
        events.check(big)
        events.deliver(big.changed(id=str(number)), NOW)
    assert (events.has_untaken, events.kept) == (True, 8), "what is given counts until it is taken"
    events.check(big)
    with pytest.raises(InvalidEvent, match="would make more than 200,000 bytes with the 180,001 of events"):
        events.check(big, taken=(events.box.kept[0].changed(value=1),))
    events.check(big.changed(id="7"), taken=events.box.kept)
    taken = events.take("one")
    assert taken is not None
    events.check(big, taken=(taken,))
    small = Events(EventBox())
    for _ in range(MOST_KEPT - 1):
        small.deliver(Event(name="a"), NOW)
    small.check(Event(name="a"))
    with pytest.raises(
        InvalidEvent, match=r"name: the task has 100 events that no step has taken .deliver it again once"
    ):
        small.check(Event(name="a"), taken=(small.box.kept[0],))
    small.wait("one", "a")
    small.deliver(Event(name="b"), NOW)
    with pytest.raises(InvalidEvent, match="the task has 100 events"):
        small.check(Event(name="a"))


def test_what_no_step_can_wait_for_is_refused_with_the_nearest_name() -> None:
    steps = "{id: a, wait: {event: paid}}, {parallel: [{id: b, wait: {event: 'sent ${task.id}'}}, {id: c, wait: 1s}]}"
    awaited = awaited_by([read_skill(f"name: s\nsteps: [{steps}]")])
    for name in ("paid", "sent 7", "sent "):
        require_awaited(name, awaited)
    with pytest.raises(InvalidEvent, match=r"PRD114 name: no step of the task waits for 'payd' .did you mean 'paid'"):
        require_awaited("payd", awaited)
    for name in ("paid 7", "sen", "set 7"):
        with pytest.raises(InvalidEvent, match="no step of the task waits for"):
            require_awaited(name, awaited)
    require_awaited("anything", {"${task.id}"})
    for skill in (None, read_skill("name: s\nsteps: [{id: a, wait: 1d}]")):
        with pytest.raises(InvalidEvent, match="name: no step of the task waits for an event"):
            require_awaited("paid", awaited_by([skill] if skill else []))


def test_an_event_that_turned_out_to_be_unwanted_is_forgotten_with_its_id() -> None:
    events = Events(EventBox())
    events.deliver(Event(name="payd", id="x"), NOW)
    events.deliver(Event(name="paid"), NOW)
    events.drop(Event(name="payd", id="x"))
    assert [one.name for one in events.box.kept] == ["paid"]
    events.deliver(Event(name="paid", id="x"), NOW)
    assert events.kept == 2


def test_names_that_look_the_same_are_the_same_and_are_one_line() -> None:
    assert event_name("bezahlt fu\u0308r") == event_name("bezahlt f\u00fcr") == "bezahlt f\u00fcr"
    for name, message in (
        ("", "names no event"),
        (" ", "names no event"),
        ("a\nb", "one line"),
        ("\ud800", "one line"),
    ):
        with pytest.raises(ValueError, match=message):
            event_name(name)
    assert event_name("x" * 200)
    with pytest.raises(ValueError, match="has 201 characters"):
        event_name("x" * 201)
