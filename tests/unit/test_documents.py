"""How a document is refused: by its field, with the nearest name or those there are."""

import pytest

from perdure.documents import kind_of, nearest


@pytest.mark.parametrize(
    ("name", "known", "fix"),
    [
        ("stepz", ["steps", "name"], "did you mean 'steps'?"),
        ("q", ["steps", "name"], "there are: name, steps"),
        (
            "q",
            [f"n{number:02}" for number in range(13)],
            "there are: n00, n01, n02, n03, n04, n05, n06, n07, n08, n09, n10, n11, …",
        ),
        ("q", [], ""),
    ],
)
def test_the_fix_for_a_name(name: str, known: list[str], fix: str) -> None:
    assert nearest(name, known) == fix


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "empty"),
        ("a", "text"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ([], "a list"),
        ({}, "a mapping"),
        ((), "a tuple"),
    ],
)
def test_what_a_value_is(value: object, kind: str) -> None:
    assert kind_of(value) == kind
