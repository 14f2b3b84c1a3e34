"""An observation of behaviour is told from what people state, and two observations of the same are one."""

from datetime import UTC, datetime

import pytest

from perdure.entries import MemoryType, Source
from perdure.items import MemoryItem
from perdure.memory.writing.behaviour import behaviour_of

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
        "FYI: the customer mostly reads mail in the morning.",
        "She always pays by card. She rarely takes a taxi.",
    ],
)
def test_what_somebody_does_is_behaviour(content: str) -> None:
    assert of(content) == of(content, Source.INFERRED) != ()
    assert not of(content, Source.EXPLICIT), "somebody states it"
    assert not of(content, kind=MemoryType.OUTCOME)


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
    ],
)
def test_what_is_stated_or_holds_of_things_is_none(content: str) -> None:
    assert not of(content)


def test_the_same_behaviour_is_the_same_however_often_it_is_said_to_be_done() -> None:
    assert of("The user usually books window seats.") == of("The user often books window seats.")
    assert of("The user tends to book window seats.") == of("The user booked a window seat.")
    assert of("The user rarely books window seats.") == of("The user never books window seats.")
    assert of("The user rarely books window seats.") != of("The user often books window seats.")
    assert of("The user often books aisle seats.") != of("The user often books window seats.")
