"""How a document is refused: by its field, with the nearest name or those there are."""

from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

import pytest
from pydantic import Field, JsonValue, ValidationError, model_validator

from perdure.documents import kind_of, refuse_unknown, refused, unreadable, validated
from perdure.errors import InvalidArguments, InvalidInput, InvalidItem, InvalidTask
from perdure.model import Instant, Model, Name, Passed
from perdure.suggestions import nearest


@pytest.mark.parametrize(
    ("name", "known", "fix"),
    [
        ("stepz", ["steps", "name"], "did you mean 'steps'?"),
        ("steps_", ["stops_", "steps"], "did you mean 'steps'?"),
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


class Inner(Model):
    size: int = 1


class Outer(Model):
    name: str
    inner: Inner = Inner()


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ({}, "PRD100 p.name: is missing"),
        ({"nam": "x"}, "PRD100 p.nam: is not a field here (did you mean 'name'?)"),
        ({"name": "x", "inner": {"size": "x"}}, "PRD100 p.inner.size: 'x' is not a whole number"),
        ({"name": "x", "inner": {"sizes": 1}}, "PRD100 p.inner.sizes: is not a field here"),
        ({"inner": {"sizes": 1}}, "PRD100 p.inner.sizes: is not a field here"),
    ],
)
def test_a_part_is_refused_by_its_first_mistake_a_wrong_name_before_a_missing_one(
    data: dict[str, object], refusal: str
) -> None:
    with pytest.raises(InvalidInput) as failure:
        validated(Outer, data, "p")
    assert str(failure.value).startswith(refusal)


class Shade(StrEnum):
    DARK = "dark"
    PALE = "pale"


class Lined(Model):
    kind: Literal["lined"] = "lined"
    width: int


class Filled(Model):
    kind: Literal["filled"] = "filled"
    shade: Shade


class Everything(Model):
    name: Name | Literal[""] = ""
    text: Annotated[str, Field(min_length=2, max_length=5)] = "ab"
    size: Annotated[int, Field(ge=1)] = 1
    share: Annotated[float, Field(gt=0, le=1)] = 1
    many: Annotated[tuple[int, ...], Field(min_length=1, max_length=2)] = (1,)
    on: bool = True
    shade: Shade = Shade.DARK
    day: date | None = None
    moment: Instant | None = None
    values: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    style: Annotated[Lined | Filled, Field(discriminator="kind")] | None = None
    styles: tuple[Filled | Lined, ...] = ()


NAME = "(letters, digits, '.', '_', '-'; start with a letter or digit; at most 80)"
DAY = "(write it as 2026-01-31)"
MOMENT = "(write it as 2026-01-31T12:00:00Z)"
MAPPING = "(write a mapping: name: value)"
SHADES = "is not one of the choices (there are: dark, pale)"


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ({"name": "my skill"}, f"name: 'my skill' is not a valid name {NAME}"),
        ({"name": 3}, "name: is a number (put it in quotes)"),
        ({"text": None}, "text: is empty (write text)"),
        ({"text": ""}, "text: is empty (fill it in)"),
        ({"text": "a"}, "text: has 1 character (write at least 2)"),
        ({"text": "a" * 1_200}, "text: has 1,200 characters (write at most 5)"),
        ({"size": "lots"}, "size: 'lots' is not a whole number"),
        ({"size": "x" * 99}, f"size: '{'x' * 80}' is not a whole number"),
        ({"size": 1.5}, "size: 1.5 is not a whole number"),
        ({"size": [1]}, "size: is a list (write a whole number)"),
        ({"size": 0}, "size: 0 is too small (write at least 1)"),
        ({"share": "half"}, "share: 'half' is not a number"),
        ({"share": float("inf")}, "share: is not a finite number"),
        ({"share": 0}, "share: 0 is too small (write more than 0)"),
        ({"share": 1.5}, "share: 1.5 is too large (write at most 1)"),
        ({"many": "ab"}, "many: is text (write a list)"),
        ({"many": []}, "many: is empty (fill it in)"),
        ({"many": [1, 2, 3]}, "many: has 3 entries (write at most 2)"),
        ({"many": [1, True, "x"]}, "many[2]: 'x' is not a whole number"),
        ({"on": "perhaps"}, "on: 'perhaps' is not true or false"),
        ({"shade": "drk"}, "shade: 'drk' is not one of the choices (did you mean 'dark'? there are: dark, pale)"),
        ({"shade": True}, f"shade: true {SHADES}"),
        ({"shade": ["dark"]}, "shade: is not one of the choices (did you mean 'dark'? there are: dark, pale)"),
        ({"day": "tomorrow"}, f"day: 'tomorrow' is not a date {DAY}"),
        ({"moment": "noon"}, f"moment: 'noon' is not a moment {MOMENT}"),
        ({"moment": "2026-01-31T12:00:00"}, f"moment: has no time zone {MOMENT}"),
        ({"values": [1]}, f"values: is a list {MAPPING}"),
        ({"values": {1: 2}}, "values: has the key 1, which is not text (put it in quotes)"),
        ({"values": {"a": {"b": [0, float("nan")]}}}, "values.a.b[1]: is not a finite number"),
        ({"values": {"dict": {"float": float("nan")}}}, "values.dict.float: is not a finite number"),
        ({"values": {"a": {"dict": 1, "b": float("nan")}}}, "values.a.b: is not a finite number"),
        ({"style": "lined"}, f"style: is text {MAPPING}"),
        ({"style": {"width": 1}}, "style.kind: is missing"),
        (
            {"style": {"kind": "line"}},
            "style.kind: 'line' is not one of the choices (did you mean 'lined'? there are: filled, lined)",
        ),
        ({"style": {"kind": "lined"}}, "style.width: is missing"),
        ({"style": {"kind": "lined", "width": "x"}}, "style.width: 'x' is not a whole number"),
        ({"style": {"kind": "lined", "wide": 1}}, "style.wide: is not a field here"),
        ({"styles": [{"width": "x"}]}, "styles[0].width: 'x' is not a whole number"),
        ({"styles": [Lined(width=1), {"shade": "drk"}]}, "styles[1].shade: 'drk' is not one of the choices (did you"),
    ],
)
def test_what_is_wrong_is_told_in_plain_words_at_a_field_of_the_data(data: dict[str, object], refusal: str) -> None:
    with pytest.raises(InvalidInput) as failure:
        validated(Everything, data, "")
    assert str(failure.value).startswith(f"PRD100 {refusal}")
    assert "function-" not in str(failure.value)


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ({"size": "secret"}, "size: is text (write a whole number)"),
        ({"size": "4711 secret"}, "size: is text (write it without a unit)"),
        ({"shade": "secret"}, f"shade: {SHADES}"),
        ({"share": 3}, "share: is too large (write at most 1)"),
        (
            {"style": {"kind": "line"}},
            "style.kind: 'line' is not one of the choices (did you mean 'lined'? there are: filled, lined)",
        ),
    ],
)
def test_the_value_of_an_argument_or_of_an_item_is_not_repeated(data: dict[str, object], refusal: str) -> None:
    for error in (InvalidArguments, InvalidItem):
        with pytest.raises(error) as failure:
            validated(Everything, data, "", error)
        assert str(failure.value) == f"{error.code} {refusal}"


def test_a_deep_value_with_its_own_name_at_every_level_is_refused_in_no_time() -> None:
    value: object = float("nan")
    for _ in range(60):
        value = {"dict": value}
    assert refusal_of({"values": {"dict": value}}).field == "values" + ".dict" * 61


def test_without_the_data_only_names_of_validators_are_left_out() -> None:
    for data, field in (({"name": "my skill"}, "name"), ({"style": {"kind": "line"}}, "style.kind")):
        with pytest.raises(ValidationError) as failure:
            Everything.model_validate(data)
        assert refused(failure.value, Everything, "").field == field


def refusal_of(data: dict[str, object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as failure:
        validated(Everything, data, "")
    return failure.value


def test_what_is_wrong_with_the_whole_is_said_of_the_input() -> None:
    class Whole(Model):
        @model_validator(mode="after")
        def _refuse(self) -> Self:
            raise ValueError("Nothing fits")

    with pytest.raises(InvalidInput) as failure:
        validated(Whole, {}, "")
    assert (failure.value.field, failure.value.problem, failure.value.fix) == ("input", "nothing fits", "")


def test_of_arguments_some_of_which_come_later_only_the_wrong_ones_are_refused() -> None:
    with pytest.raises(ValidationError) as failure:
        Outer.model_validate({"inner": {"size": "x"}})
    assert refused(failure.value, Outer, "").field == "name"
    assert refused(failure.value, Outer, "", ignore_missing=True).field == "inner.size"
    with pytest.raises(ValidationError) as failure:
        Outer.model_validate({"nam": "x"})
    wrong = refused(failure.value, Outer, "args", InvalidTask)
    assert (type(wrong), str(wrong)) == (InvalidTask, "PRD101 args.nam: is not a field here (did you mean 'name'?)")


def test_of_twelve_names_all_are_listed() -> None:
    assert nearest("q", [f"n{number:02}" for number in range(12)]).endswith("n10, n11")
    assert nearest("abcd", ["abcx", "abce", "abcde"]) == "did you mean 'abcde'?"


class Kept(Passed):
    name: str = ""


class Keeping(Passed):
    inner: dict[str, Kept] = Field(default_factory=dict[str, Kept])
    many: tuple[Kept, ...] = ()


class OfAProgram(Passed):
    by_hand = False


def test_what_nobody_knows_is_refused_wherever_it_stands() -> None:
    written = Keeping.model_validate({"inner": {"a": {"nam": "x"}}})
    with pytest.raises(InvalidTask, match=r"inner\.a\.nam: is not a field here \(did you mean 'name'\?\)"):
        refuse_unknown(written, error=InvalidTask)
    with pytest.raises(InvalidInput, match=r"here\.many\[1\]\.nam: "):
        refuse_unknown(Keeping.model_validate({"many": [{}, {"nam": "x"}]}), "here")
    with pytest.raises(InvalidInput, match=r"^PRD100 x: is not a field here"):
        refuse_unknown(Kept.model_validate({"x": 1}))
    refuse_unknown(OfAProgram.model_validate({"x": 1}))
    refuse_unknown(Keeping.model_validate({"inner": {"a": {"name": "x"}}}))


class Counted(Model):
    size: int = 1
    part: float = 1.0
    inner: tuple[Inner, ...] = ()
    value: JsonValue = None


@pytest.mark.parametrize(
    ("given", "field", "problem", "fix"),
    [
        ({"size": True}, "at.size", "is a boolean, not a whole number", "write it in digits"),
        ({"part": False}, "at.part", "is a boolean, not a number", "write it in digits"),
        ({"inner": [{}, {"size": True}]}, "at.inner[1].size", "is a boolean, not a whole number", "write it in digits"),
        ({"value": {"a": b"x"}}, "at.value.a", "is not a value of JSON", "give text, a number, a boolean, a list or"),
    ],
)
def test_what_is_of_no_type_that_a_field_takes_is_refused(
    given: dict[str, object], field: str, problem: str, fix: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        validated(Counted, given, "at")
    assert (caught.value.field, caught.value.problem) == (field, problem)
    assert caught.value.fix.startswith(fix)
    assert validated(Counted, {"value": [True]}, "at").value == [True]


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (
            FileNotFoundError(2, "No such file"),
            "cannot be read: No such file (give a file that can be read)",
        ),
        (
            UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
            "is not UTF-8 text (save it as plain text, in UTF-8)",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_why(problem: OSError | ValueError, told: str) -> None:
    assert str(unreadable(Path("a.yaml"), problem, InvalidTask)) == f"PRD101 a.yaml: {told}"


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("if", ["when", "id"], "did you mean 'when'?"),
        ("If", ["when", "id"], "did you mean 'when'?"),
        ("with", ["inputs", "id"], "did you mean 'inputs'?"),
        ("if", ["then"], "there are: then"),
    ],
)
def test_what_others_call_it_leads_to_its_name_here_where_there_is_one(name: str, known: list[str], meant: str) -> None:
    assert nearest(name, known) == meant
