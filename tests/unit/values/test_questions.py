"""Answers: what people write becomes a value of the type that the question declares, or is refused."""

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.errors import InvalidAnswer
from perdure.values.questions import AnswerSpec, AnswerType, shortened, typed

SAFE = 2**53 - 1


def spec(kind: AnswerType, *choices: str) -> AnswerSpec:
    return AnswerSpec(type=kind, choices=choices)


@given(st.integers(-SAFE, SAFE))
def test_an_integer_is_the_same_as_json_and_as_text(number: int) -> None:
    for written in (number, str(number), f" {number} ", f"{number:+d}"):
        value = typed(written, spec(AnswerType.INTEGER))
        assert (type(value), value) == (int, number)


@given(st.floats(allow_nan=False, allow_infinity=False, max_value=1e300, min_value=-1e300))
def test_a_number_is_the_same_as_json_and_as_text(number: float) -> None:
    assert typed(number, spec(AnswerType.NUMBER)) == typed(repr(number), spec(AnswerType.NUMBER)) == number


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


@pytest.mark.parametrize(
    ("given_as", "choices", "chosen"),
    [
        (True, ("yes", "no"), "yes"),
        (False, ("yes", "no"), "no"),
        ("Yes", ("yes", "no"), "yes"),
        (" NO ", ("yes", "no"), "no"),
        ("daily", ("Daily", "weekly"), "Daily"),
        ("a", ("A", "a"), "a"),
    ],
)
def test_a_choice_is_taken_in_whatever_case_and_yes_or_no_as_a_boolean(
    given_as: JsonValue, choices: tuple[str, ...], chosen: str
) -> None:
    assert typed(given_as, spec(AnswerType.CHOICE, *choices)) == chosen


@given(json_values, st.sampled_from([*AnswerType, AnswerType("signature")]))
def test_whatever_is_given_is_typed_or_refused_and_a_typed_value_stays_itself(
    value: JsonValue, kind: AnswerType
) -> None:
    takes = spec(kind, "a", "b") if kind is AnswerType.CHOICE else spec(kind)
    try:
        found = typed(value, takes)
    except InvalidAnswer:
        return
    kinds = {AnswerType.INTEGER: (int,), AnswerType.NUMBER: (float,), AnswerType.YES_NO: (bool,)}
    assert type(found) in kinds.get(kind, (str,))
    assert not isinstance(found, float) or math.isfinite(found)
    assert typed(found, takes) == found


@pytest.mark.parametrize(
    ("value", "takes", "message"),
    [
        ("", spec(AnswerType.TEXT), "value: is empty"),
        (42, spec(AnswerType.TEXT), "42 is not text .put it in quotes"),
        ("x" * 4_001, spec(AnswerType.TEXT), "has 4,001 characters"),
        ("forty", spec(AnswerType.INTEGER), "'forty' is not an integer"),
        (True, spec(AnswerType.INTEGER), "True is not an integer"),
        ("4.2", spec(AnswerType.INTEGER), "is not an integer"),
        (2**53, spec(AnswerType.INTEGER), "is too large"),
        ("1e999", spec(AnswerType.NUMBER), "is not a number"),
        (10**400, spec(AnswerType.NUMBER), "is not a number"),
        ("perhaps", spec(AnswerType.YES_NO), "'perhaps' is neither yes nor no"),
        ("c", spec(AnswerType.CHOICE, "a", "b"), "'c' is not one of the choices .choose a or b"),
        (["a"], spec(AnswerType.CHOICE, "a", "b"), "is not one of the choices"),
        (True, spec(AnswerType.CHOICE, "a", "b"), "True is not one of the choices"),
        ("AB", spec(AnswerType.CHOICE, "Ab", "aB"), "'AB' is not one of the choices"),
    ],
)
def test_a_wrong_answer_is_refused_with_the_reason(value: JsonValue, takes: AnswerSpec, message: str) -> None:
    with pytest.raises(InvalidAnswer, match=message):
        typed(value, takes)


@pytest.mark.parametrize(
    ("value", "takes", "typed_as"),
    [
        ("x" * 4_000, AnswerType.TEXT, "x" * 4_000),
        (" keeps its spaces ", AnswerType.TEXT, " keeps its spaces "),
        (42.0, AnswerType.INTEGER, 42),
        (SAFE, AnswerType.INTEGER, SAFE),
        (str(-SAFE), AnswerType.INTEGER, -SAFE),
        (sys.float_info.max, AnswerType.NUMBER, sys.float_info.max),
        (7, AnswerType.NUMBER, 7.0),
    ],
)
def test_what_just_fits_is_taken(value: JsonValue, takes: AnswerType, typed_as: JsonValue) -> None:
    found = typed(value, spec(takes))
    assert (type(found), found) == (type(typed_as), typed_as)


@pytest.mark.parametrize(
    ("given", "shown"), [("x" * 78, f"'{'x' * 78}'"), ("x" * 79, f"'{'x' * 78}…"), ("x" * 200, f"'{'x' * 78}…")]
)
def test_a_refusal_shows_80_characters_of_what_was_given(given: str, shown: str) -> None:
    with pytest.raises(InvalidAnswer) as failure:
        typed(given, spec(AnswerType.INTEGER))
    assert failure.value.problem == f"{shown} is not an integer"


def test_a_question_shortens_arguments_that_do_not_fit() -> None:
    whole = '{"a": "' + "é" * 600 + '"}'
    assert shortened({"a": "é" * (500 - 9)}) == '{"a": "' + "é" * 491 + '"}'
    assert shortened({"a": "é" * 600}) == whole[:499] + "…"


def test_yes_and_no_are_booleans() -> None:
    assert [typed(one, spec(AnswerType.YES_NO)) for one in ("Yes", "no", True, "false")] == [True, False, True, False]
