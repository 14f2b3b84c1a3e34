"""How a document is refused: by its field, with the nearest name or those there are."""

from typing import Self

import pytest
from pydantic import Field, ValidationError, model_validator

from perdure.documents import LARGEST, kind_of, line_of, nearest, read_document, refuse_unknown, refused, validated
from perdure.errors import InvalidInput, InvalidTask
from perdure.model import Model, Passed


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: [", "is not YAML: expected the node content, but found '<stream end>' in line 2, column 5"),
        ("a: 1\na: 2", "is not YAML: the key 'a' is duplicated in line 2, column 1"),
        ("x: {b: 1, b: 2}", "is not YAML: the key 'b' is duplicated in line 1, column 11"),
        ("a: \x00", "is not YAML: unacceptable character"),
        ("- 1", "is a list"),
        ("", "is empty"),
        ("1: 2", "has the key 1, which is not text"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_with_the_place(text: str, problem: str) -> None:
    with pytest.raises(InvalidTask) as failure:
        read_document(text, "a.yaml", InvalidTask)
    assert failure.value.field == "a.yaml"
    assert failure.value.problem.startswith(problem)


def test_a_document_of_the_largest_size_is_read() -> None:
    assert read_document("a: " + "x" * (LARGEST - 3), "f") == {"a": "x" * (LARGEST - 3)}
    with pytest.raises(InvalidInput, match=r"f: has [0-9,]+ characters .at most [0-9,]+ can be read"):
        read_document("a: " + "x" * (LARGEST - 2), "f")


def test_how_many_values_the_aliases_of_a_document_may_come_to() -> None:
    rows = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    rows += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 4)]
    rows += [f"b: [{', '.join(['*a3'] * 7)}]"]
    # The lists come to 11, 111, 1,111, 11,111 and 7 × 11,111 + 1; then come six keys, their mapping and the last list.
    rest = 100_000 - (11 + 111 + 1_111 + 11_111) - (7 * 11_111 + 1) - 6 - 1 - 1
    assert len(read_document("\n".join([*rows, f"c: [{', '.join(['1'] * rest)}]"]), "f")["c"]) == rest
    with pytest.raises(InvalidInput, match="aliases come to more than 100,000 values in line 1, column 1"):
        read_document("\n".join([*rows, f"c: [{', '.join(['1'] * (rest + 1))}]"]), "f")


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
        ({"name": "x", "inner": {"size": "x"}}, "PRD100 p.inner.size: input should be a valid integer"),
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


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("name", 1),
        ("unless", 2),
        ("unless[0]", 3),
        ("unless[1]", 5),
        ("unless[1].of", 6),
        ("unless[1].of.who", 7),
        ("unles", 1),
        ("unless[1].off.who", 5),
        ("unless[2][0]", 2),
        ("unless.first", 2),
        ("name.first", 1),
        ("name[0].of", 1),
    ],
)
def test_the_line_of_a_field_or_of_what_is_around_one_that_is_missing(field: str, line: int) -> None:
    text = """\
name: a
unless:
  - - x
    - y
  - when: z
    of:
      who: ada
"""
    assert line_of(text, field) == line
