"""What a sentence adds to another one that asserts the same: what would be lost, were it dropped."""

from datetime import UTC, datetime

import pytest

from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.extraction.substance import adds_nothing, substance

NOTHING_ADDED = (
    ("I have a nut allergy.", "Just a reminder, I have a nut allergy."),
    ("The nightly backup goes to the Bergen vault.", "job finished: the nightly backup goes to the Bergen vault"),
    ("Dinner is at eight.", "Eight is when dinner is."),
    ("The band is conducted by Ilse.", "Ilse is the one who leads the band."),
    ("I hate celery.", "Celery? I loathe the stuff."),
    ("I never fly on Fridays.", "Fridays I never fly, please keep that in mind."),
    ("The flat on the third floor has a red door.", "The flat on the third floor has a door."),
)
ADDED = (
    ("Valid names: width, height.", "Valid names: colour, font."),
    ("Set the clock of the tower.", "Read the clock of the tower."),
    ("The lamp hangs above the desk.", "The lamp hangs below the desk."),
    ("The fee was raised.", "The fee was lowered."),
    ("The pump starts at six.", "The pump starts at six, and Kim drains the tank."),
    ("Zero calls pause_writing.", "Zero calls pause_reading."),
    ("The road is long.", "The road is long. " * 60),
)


def adds(old: str, new: str) -> bool:
    assertion = assertion_of(old, datetime(2026, 5, 6, tzinfo=UTC)).assertion
    assert assertion
    return not adds_nothing(new, old, assertion)


@pytest.mark.parametrize(("old", "new"), NOTHING_ADDED)
def test_other_words_for_the_same_add_nothing(old: str, new: str) -> None:
    assert not adds(old, new)


@pytest.mark.parametrize(("old", "new"), ADDED)
def test_what_says_more_adds_something(old: str, new: str) -> None:
    assert adds(old, new)


def test_words_are_compared_in_one_form_and_in_their_order() -> None:
    assert substance("In May the offices close early.") == ("may", "offic", "end", "earli")
    assert substance("The office is closing early in May!") == ("offic", "end", "earli", "may")
    assert substance("We don't smoke.") == substance("We never smoke.") != substance("We smoke.")
