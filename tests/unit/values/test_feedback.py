"""How a task counts once people have spoken after its end."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure import Actor, ActorKind
from perdure.values.feedback import LateFeedback, verdict
from perdure.values.steering import GivenFeedback

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ADA = Actor(kind=ActorKind.PERSON, id="ada")


def said(*words: str) -> list[LateFeedback]:
    """Return words, each "step+" or "step-": whether the step, or without one the task, did what it should."""
    return [
        LateFeedback(
            id=f"{number:02}",
            first_run="r",
            given=GivenFeedback(step=word[:-1], passed=word[-1] == "+", by=ADA, at=NOW + timedelta(seconds=number)),
        )
        for number, word in enumerate(words)
    ]


@pytest.mark.parametrize(
    ("words", "succeeded"),
    [
        ((), None),
        (("+",), True),
        (("-",), False),
        (("-", "+"), True),
        (("+", "-"), False),
        (("a-",), False),
        (("a+",), None),
        (("a-", "a+"), None),
        (("a-", "b+"), False),
        (("a-", "+"), True),
        (("+", "a-"), False),
        (("+", "a-", "a+"), True),
        (("-", "a+"), False),
    ],
)
def test_the_last_word_on_the_whole_decides_unless_a_step_failed_after_it(
    words: tuple[str, ...], succeeded: bool | None
) -> None:
    assert verdict(said(*words)) is succeeded
    assert verdict(reversed(said(*words))) is succeeded, "whatever order they are read in"


def test_of_two_words_of_one_moment_the_same_one_is_the_last_for_every_reader() -> None:
    first, second = said("+", "-")
    same = second.changed(given=second.given.changed(at=first.given.at))
    assert verdict([first, same]) is verdict([same, first]) is False
