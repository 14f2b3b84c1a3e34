"""How a document is read, what is refused as none, and in which line a field stands."""

from pathlib import Path

import pytest

from perdure.errors import InvalidInput, InvalidTask
from perdure.yaml_text import LARGEST, line_of, placed, read_document


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("a: 1\nb: [", "is not YAML: expected the node content, but found '<stream end>', in column 5", ":2"),
        ("a: 1\na: 2", "is not YAML: the key 'a' is duplicated, in column 1", ":2"),
        ("x: {b: 1, b: 2}", "is not YAML: the key 'b' is duplicated, in column 11", ":1"),
        ("a: \x00", "is not text: it has the character #x0000", ""),
        ("- 1", "is a list", ""),
        ("", "is empty", ""),
        ("1: 2", "has the key 1, which is not text", ""),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_with_the_place(text: str, problem: str, line: str) -> None:
    with pytest.raises(InvalidTask) as failure:
        read_document(text, "a.yaml", InvalidTask)
    assert failure.value.field == f"a.yaml{line}"
    assert failure.value.problem.startswith(problem)


@pytest.mark.parametrize("text", ["a: 1\n b: 2", "a:\n    b: 1\n  c: 2", "a:\n  - x: 1\n   y: 2", "a:\n  - x\n - y"])
def test_lines_that_are_indented_differently_are_said_to_be(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not YAML: .*\(indent what belongs together equally"):
        read_document(text, "a.yaml")


@pytest.mark.parametrize("text", ["a: 'it's'", "when: \"${a}\" == 'x'", 'a: "a "b" c"', "a: {b: 1} }", "a: [1]]"])
def test_what_is_closed_too_early_is_said_to_need_quotes(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not YAML: .*\(close what is opened, and put text with"):
        read_document(text, "a.yaml")


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("a: 1\n---\nb: 2\n", "a.yaml:2: is not YAML: but found another document", "keep one document in a file"),
        ("? [a, b]\n: 1\n", "a.yaml:1: is not YAML: found unhashable key", "write a key as one word, or as text"),
        ("%YAML 9.9\n---\na: 1\n", "a.yaml:1: is not YAML: found incompatible", "leave out the line with %YAML"),
        ("a: !!binary aGk=\n", "a.yaml:1: has the tag '!!binary', in column 4", "leave it out: only plain values"),
        ("a: !!set {b}\n", "a.yaml:1: has the tag '!!set', in column 4", "leave it out: only plain values"),
        ("a: !mine 1\n", "a.yaml:1: has the tag '!mine', in column 4", "leave it out: only plain values"),
        ('a: [1, {b: "\\ud800"}]\n', "a[1].b: has half of a surrogate pair", "write the character itself"),
        ('a: {b: {"\\udfff": 1}}\n', "a.b: has half of a surrogate pair", "write the character itself"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_fix_that_helps(text: str, problem: str, fix: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_document(text, "a.yaml")
    assert f"{caught.value.field}: {caught.value.problem}".startswith(problem)
    assert caught.value.fix.startswith(fix)


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
    with pytest.raises(InvalidInput, match="aliases come to more than 100,000 values, in column 1"):
        read_document("\n".join([*rows, f"c: [{', '.join(['1'] * (rest + 1))}]"]), "f")


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


def test_an_error_is_placed_once() -> None:
    error = placed(InvalidTask("skill", "is missing"), Path("a.yaml"), "name: x\nskill: y\n")
    assert (str(error), error.place) == ("PRD101 a.yaml:2: skill: is missing", "a.yaml:2")
    assert placed(error, Path("b.yaml"), "") is error
    whole = placed(InvalidTask("a.yaml:2", "is not YAML"), Path("folder/a.yaml"), "")
    assert (str(whole), whole.place) == ("PRD101 folder/a.yaml:2: is not YAML", "folder/a.yaml:2")
    assert placed(whole, Path("folder/a.yaml"), "b: [") is whole
