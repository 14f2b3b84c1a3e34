"""An observation of behaviour is told from what people state, and two observations of the same are one."""

from datetime import UTC, datetime

import pytest

from perdure.memory.writing.behaviour import behaviour_of, place_of
from perdure.values.entries import MemoryType, Source
from perdure.values.items import MemoryItem

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def of(content: str, source: Source = Source.LEARNED, kind: MemoryType = MemoryType.FACT) -> tuple[str, ...]:
    return behaviour_of(MemoryItem(content=content, source=source, memory_type=kind, occurrence="1", occurred_at=NOW))


@pytest.mark.parametrize(
    "content",
    [
        "The user usually books window seats.",
        "The user tends to order oat milk.",
        "The user orders oat milk every time.",
        "The user never eats meat.",
        "Usually, the user skips breakfast.",
        "The user booked a window seat.",
        "The user ordered oat milk again.",
        "The user again chose the window seat.",
        "The user has selected dark mode every time.",
        "FYI: the customer mostly reads mail in the morning.",
        "She always pays by card. She rarely takes a taxi.",
    ],
)
def test_what_somebody_does_is_behaviour(content: str) -> None:
    assert of(content) == of(content, Source.INFERRED) != ()
    assert not of(content, Source.EXPLICIT), "somebody states it"
    assert not of(content, kind=MemoryType.OUTCOME)
    assert not of(content, kind=MemoryType.CONSTRAINT)


@pytest.mark.parametrize(
    "content",
    [
        "The user prefers window seats.",
        "The user always wants short answers.",
        "The user is always in Leeds on Mondays.",
        "The user asked to be reminded by e-mail.",
        "The bakery usually opens at six.",
        "Deploys never happen on Fridays.",
        "The user usually books window seats. The desk is in Leeds.",
        "Turning the cache off fixed the login.",
        "The user has chosen Postgres for the new service.",
        "The customer selected Leeds as the delivery address.",
        "The customer ordered a lamp that never worked.",
        "The user opened an account in Leeds.",
        "The user runs a bakery that never closes.",
        "The user knows a baker who always opens at six.",
    ],
)
def test_what_is_stated_or_holds_of_things_is_none(content: str) -> None:
    assert not of(content)


def test_the_same_behaviour_is_the_same_however_often_it_is_said_to_be_done() -> None:
    assert of("The user usually books window seats.") == of("The user often books window seats.")
    assert of("The user tends to book window seats.") == of("The user booked a window seat.")
    assert of("The user is in the habit of booking window seats.") == of("The user booked a window seat.")
    assert of("The user rarely books window seats.") == of("The user never books window seats.")
    assert of("The user rarely books window seats.") != of("The user often books window seats.")
    assert of("The user often books aisle seats.") != of("The user often books window seats.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user usually eats meat.", "The user usually doesn't eat meat."),
        ("The user usually eats meat.", "The user usually eats no meat."),
        ("The user often takes the train from Leeds to Hull.", "The user often takes the train from Hull to Leeds."),
        ("The user usually drinks tea before coffee.", "The user usually drinks coffee before tea."),
        ("The user usually travels with Kim.", "The user usually travels without Kim."),
        ("The user usually works in Leeds.", "The user usually works from Leeds."),
        ("The user usually turns notifications on.", "The user usually turns notifications off."),
        ("The user often eats cakes.", "The user often drinks cakes."),
        ("She always pays by card. She rarely takes a taxi.", "She rarely pays by card. She always takes a taxi."),
    ],
)
def test_opposite_behaviours_are_two(one: str, other: str) -> None:
    assert of(one) != of(other)
    assert () not in (of(one), of(other))


def test_what_somebody_usually_does_not_do_is_done_seldom() -> None:
    assert of("The user usually doesn't eat meat.") == of("The user rarely eats meat.")
    assert of("Usually, the user does not eat meat.") == of("The user never eats meat.")


@pytest.mark.parametrize(
    ("occurrence", "place"),
    [
        ("s/1", "s/1"),
        ("s/1#1", "s/1"),
        ("s/1#12", "s/1"),
        ("ticket #12", "ticket #12"),
        ("#1", "#1"),
        ("a#b", "a#b"),
        ("t/turn[3].call[1]#0", "t"),
        ("t/turn[3].call[1].look#0", "t/turn[3].call[1].look"),
        ("t/turn[3].call[1]", "t/turn[3].call[1]"),
        ("t/pay[3].look#0", "t/pay[3].look"),
    ],
)
def test_what_one_message_tells_was_seen_in_one_place(occurrence: str, place: str) -> None:
    assert place_of(occurrence) == place
