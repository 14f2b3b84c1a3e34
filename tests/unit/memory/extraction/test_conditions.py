"""When a sentence holds, apart from what then holds."""

import pytest

from perdure.memory.extraction.conditions import conditional, may_concern

CONDITIONAL = (
    ("If it rains, we meet indoors.", "we meet indoors.", "If it rains"),
    ("But when the queue is full, then drop the oldest job.", "drop the oldest job.", "when the queue is full"),
    ("Deployments are frozen if the build is red.", "Deployments are frozen", "if the build is red."),
    ("Call Ann unless it is a Sunday.", "Call Ann", "unless it is a Sunday."),
    ("I take the bus when it snows.", "I take the bus", "when it snows."),
)
PLAIN = (
    "Eight is when dinner is.",
    "Tuesdays are when we play handball now.",
    "Once again, I take no calls before ten.",
    "Given the choice I pick rice over potatoes.",
    "The catalogue stopped syncing when they shut the old interface down.",
    "The gate is painted as if it were new.",
    "",
)


@pytest.mark.parametrize(("text", "what", "when"), CONDITIONAL)
def test_the_clause_with_the_condition_is_taken_apart(text: str, what: str, when: str) -> None:
    assert conditional(text) == (what, when)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_condition_stays(text: str) -> None:
    assert conditional(text) == (text, "")


def test_what_holds_under_another_condition_concerns_nothing() -> None:
    wet, sunny = "If it rains, dinner is at six.", "Dinner is at eight if it is sunny."
    assert not may_concern(sunny, wet)
    assert not may_concern("Dinner is at seven.", wet)
    assert may_concern("Dinner is at seven if it rains.", wet)
    assert may_concern("We no longer have dinner.", wet), "a change without a condition is one of all of them"
