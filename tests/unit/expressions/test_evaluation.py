"""Expressions: what they refer to, what they give, how they are refused."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.errors import InvalidExpression
from perdure.expressions.evaluation import evaluate, holds, references

plain = st.text(alphabet=st.characters(exclude_characters="$", exclude_categories=["Cs", "Cc"]), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain, inner, max_size=4),
    max_leaves=10,
)


@given(value=json_values)
def test_one_expression_alone_keeps_its_value_and_type(value: JsonValue) -> None:
    assert evaluate("${x}", {"x": value}, "f") == value


@given(before=plain, text=plain, after=plain)
def test_text_around_an_expression_stays(before: str, text: str, after: str) -> None:
    assert evaluate(f"{before}${{x}}{after}", {"x": text}, "f") == before + text + after


@given(value=json_values)
def test_what_has_no_expression_is_unchanged(value: JsonValue) -> None:
    assert evaluate(value, {}, "f") == value
    assert references(value, "f") == set()


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ("steps.a.output.x[0] + inputs.b", {("steps", "a", "output", "x"), ("inputs", "b")}),
        ("inputs.l.map(x, x * 2).exists(y, y == steps.p.output)", {("inputs", "l"), ("steps", "p", "output")}),
        ("pkg.name in steps['known'].records", {("pkg", "name"), ("steps", "known", "records")}),
        ("'inputs.a' + \"steps.b\" + r'\\d'", set[tuple[str, ...]]()),
        ("has(task.date) ? task.date : 'x'", {("task", "date")}),
        ("inputs.l.filter(x, x.ok).size() > 0", {("inputs", "l")}),
        ("{'k': inputs.v}.k", {("inputs", "v")}),
        ("inputs.l.exists(x, x == 1) && x.ok", {("inputs", "l"), ("x", "ok")}),
        ("steps[r'known'].items + steps[R'new'].items", {("steps", "known", "items"), ("steps", "new", "items")}),
        ("inputs . l . map ( x , x . ok )", {("inputs", "l")}),
        ("inputs.x.map(y, y)[0] + y", {("inputs", "x"), ("y",)}),
        ("x['a b'].c", {("x", "a b", "c")}),
        ("""x["'a'"]""", {("x", "'a'")}),
        (r'x["a\"b"].c', {("x",)}),
        (r'x["a\u00e9"]', {("x",)}),
    ],
)
def test_references(source: str, paths: set[tuple[str, ...]]) -> None:
    assert references(f"${{{source}}}", "f") == paths


def test_braces_and_quotes_inside_an_expression() -> None:
    assert evaluate("${ {'a': '}'}.a } and $${b}", {}, "f") == "} and ${b}"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("${x", r"steps\[0\].when: has a \$\{ without its \}: '\$\{x' \(close it with \}, or write \$\$\{ where no"),
        ("${1 +}", r"does not parse: it ends too early \(complete or correct it\)$"),
        ("${a = b}", r"does not parse: unexpected '=' at character 3 \(complete or correct it\)$"),
        ("${-}", r"does not parse: unexpected '-' at character 2 \(complete or correct it\)$"),
        ("${(a}", r"does not parse: '\)' is missing at character 3 \(complete or correct it\)$"),
        ("${a b}", r"does not parse: unexpected 'b' at character 3 \(complete or correct it\)$"),
        ("${}", "it is empty"),
        ("${lowerAsci('A')}", "did you mean 'lowerAscii'"),
        # Ten times as long, the library overflows its stack while it parses, and takes the process along.
        ("${1" + "+1" * 4_000 + "}", "is longer than 8,000 characters"),
    ],
)
def test_a_bad_expression_names_its_field(template: str, message: str) -> None:
    with pytest.raises(InvalidExpression, match=message):
        references(template, "steps[0].when")


@pytest.mark.parametrize("template", ["${x.missing}", "${x + 1}", "${x[3]}", "${1 / 0}", "${y}"])
def test_what_cannot_be_evaluated_is_an_error_of_ours(template: str) -> None:
    with pytest.raises(InvalidExpression, match="PRD103 f"):
        evaluate(template, {"x": {"a": 1}}, "f")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("${x.n + 'a'}", r"cannot be evaluated: its values have other types than its operator takes; convert them"),
        ("${x.weigth}", r"\$\{x.weigth\} names 'weigth', which does not exist \(did you mean 'weight'\?\)$"),
        ("${x.other}", r"\$\{x.other\} names 'other', which does not exist$"),
        ("${-x.s}", r"cannot be evaluated: its values have other types than its operator takes; convert them"),
        ("${x.s.size}", r"cannot be evaluated: x\.s is text, and has no field 'size'; did you mean 'size\(\)'\?$"),
        ("${x.n.length > 1}", r"x\.n is a number, and has no field 'length'; did you mean 'size\(\)'\?$"),
        ("${x.s.price}", r"x\.s is text, and has no field 'price'; write x\.s alone$"),
        (
            "${x.l.weight}",
            r"cannot be evaluated: x\.l is a list, and has no field 'weight'; read it of an element: x\.l\[0\].weight$",
        ),
        ("${size(x.n)}", r"cannot be evaluated: size\(\) takes no value of this type, or is not called in this form$"),
        ("${int(x.s)}", r"cannot be evaluated: Function 'int' error: .*invalid digit found in string$"),
    ],
)
def test_why_an_expression_has_no_value_is_one_line(template: str, message: str) -> None:
    with pytest.raises(InvalidExpression, match=message):
        evaluate(template, {"x": {"n": 1, "s": "t", "l": [1], "weight": 2}}, "f")


@pytest.mark.parametrize("template", ["${1.0 / 0.0}", "${[0.0 / 0.0]}", "${x}", "${x > 1}"])
def test_what_json_cannot_carry_is_an_error_of_ours(template: str) -> None:
    with pytest.raises(InvalidExpression, match="PRD103 f"):
        evaluate(template, {"x": 10**400}, "f")


@pytest.mark.parametrize(
    ("source", "length"),
    [
        ("x.l.filter(a, a > 1)", 4_000),
        ("x.l.map(a, x.l.map(b, a * b))", 300),
        ("x.l.filter(a, x.l.map(b, b)[0] == a)", 300),
        ("x.l.filter(c, c == 1).filter(a, x.l.filter(b, b == a) == [a]).map(d, d)", 300),
    ],
)
def test_a_walk_that_would_hold_the_worker_up_is_refused(source: str, length: int) -> None:
    values: list[JsonValue] = list(range(length))
    with pytest.raises(InvalidExpression, match=f"PRD103 f: iterates over {length:,} elements"):
        evaluate(f"${{{source}}}", {"x": {"l": values}}, "f")
    few: JsonValue = {"l": values[:200], "not read": values * 100}
    assert isinstance(evaluate(f"${{size({source})}}", {"x": few}, "f"), int)


def test_an_expression_may_have_eight_thousand_characters() -> None:
    assert evaluate(f"${{'{'x' * 7_998}'}}", {}, "f") == "x" * 7_998
    with pytest.raises(InvalidExpression, match="is longer than 8,000 characters"):
        evaluate(f"${{'{'x' * 7_999}'}}", {}, "f")


def test_what_walks_no_list_may_read_one_of_any_length() -> None:
    names: dict[str, JsonValue] = {"x": [3, 1, 2]}
    assert evaluate("${size(x) + x[0]}", names, "f", walked=1) == 6
    assert evaluate([{"a": "${x.map(i, i + 1)}"}], names, "f", walked=9) == [{"a": [4, 2, 3]}]
    with pytest.raises(InvalidExpression, match="iterates over 3 elements, and at most 2 are allowed here"):
        evaluate([{"a": "${x.map(i, i + 1)}"}], names, "f", walked=8)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("${x.name.lowerAscii()}", "kim"),
        ("${x.name.replace('K', 'T')}", "Tim"),
        ("${[3, 1].sort()}", [1, 3]),
    ],
)
def test_the_functions_for_texts_and_lists_can_be_called(template: str, value: JsonValue) -> None:
    assert evaluate(template, {"x": {"name": "Kim"}}, "f") == value


def test_walks_in_walks_are_checked_at_once() -> None:
    assert evaluate("${" + "[1].all(x, " * 60 + "true" + ")" * 60 + "}", {}, "f")


def test_a_long_list_can_be_searched() -> None:
    assert evaluate("${x.exists(a, a == 99999)}", {"x": list(range(100_000))}, "f")


def test_a_condition_must_be_true_or_false() -> None:
    assert holds("${x > 1}", {"x": 2}, "f")
    with pytest.raises(InvalidExpression, match="not true or false"):
        holds("${x}", {"x": 2}, "f")


def test_the_longest_of_nested_lists_is_what_a_walk_costs() -> None:
    nested: JsonValue = [[1], list(range(4_000)), [1]]
    with pytest.raises(InvalidExpression, match="iterates over 4,000 elements"):
        evaluate("${x.filter(a, size(a.filter(b, b > 1)) > 1)}", {"x": nested}, "f")
    with pytest.raises(InvalidExpression, match="iterates over 4,000 elements"):
        evaluate("${x.l.filter(a, a.k.size() > 1)}", {"x": {"l": [{"k": list(range(4_000))}, {"k": [1]}]}}, "f")


def test_a_mapping_in_a_text_has_one_order() -> None:
    assert evaluate("k: ${x}", {"x": {"b": 1, "a": 2}}, "f") == 'k: {"a": 2, "b": 1}'


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("${x.a.b + x.c}", 3),
        ("${x.a.b + size(x)}", 3),
        ("${size(x) + x.a.b}", 3),
        ("${has(x.none) ? 1 : 2}", 2),
        ("${'c' in x}", True),
        ("${x['c'] + x.a['b']}", 3),
        ("${x.a.map(k, x.c)}", [2]),
    ],
)
def test_an_expression_sees_what_it_reads_whether_a_part_or_the_whole(template: str, value: JsonValue) -> None:
    assert evaluate(template, {"x": {"a": {"b": 1}, "c": 2}, "unread": [1]}, "f") == value


def test_many_expressions_over_many_large_results_take_no_time() -> None:
    steps: JsonValue = {f"s{number}": {"output": "x" * 4_000} for number in range(1_000)}
    template: list[JsonValue] = [f"${{steps.s{number}.output.size()}}" for number in range(1_000)]
    began = time.process_time()
    assert evaluate(template, {"steps": steps}, "output") == [4_000] * 1_000
    assert time.process_time() - began < 5, "the library copies what it is given: all of it took minutes"


@pytest.mark.parametrize(
    ("template", "field"),
    [
        ({"a": {"b": ["x", "${y}"]}}, "f.a.b[1]"),
        ({"a": "text ${y}"}, "f.a"),
        ({"a": ["${y"]}, "f.a[0]"),
    ],
)
def test_a_mistake_is_told_by_its_place_in_the_template(template: JsonValue, field: str) -> None:
    with pytest.raises(InvalidExpression) as failure:
        evaluate(template, {"x": 1}, "f")
    assert failure.value.field == field


def test_a_missing_name_and_a_condition_of_another_kind_are_told() -> None:
    with pytest.raises(InvalidExpression) as failure:
        holds("${x.none}", {"x": {"a": 1}}, "s.when")
    assert failure.value.field == "s.when"
    assert "'none'" in failure.value.problem
    with pytest.raises(InvalidExpression) as failure:
        holds("${x", {"x": 2}, "s.when")
    assert failure.value.field == "s.when"


def test_a_template_is_filled_at_any_depth() -> None:
    assert evaluate({"a": [{"b": "${x}"}]}, {"x": "é"}, "f") == {"a": [{"b": "é"}]}
    assert evaluate("${x} ${y}", {"x": ["é"], "y": True}, "f") == '["é"] true'


@pytest.mark.parametrize("length", [3_162, 3_163])
def test_how_long_a_list_may_be_that_is_walked_for_each_of_its_elements(length: int) -> None:
    names: dict[str, JsonValue] = {"x": {"few": [1], "empty": {"c": []}}, "long": list[JsonValue]([1] * length)}
    template = "${x.few.all(i, x.empty.c.all(j, size(long) > 0))}"
    if length**2 <= 10_000_000:
        assert evaluate(template, names, "f") is True
    else:
        with pytest.raises(InvalidExpression, match="iterates over 3,163 elements, and at most 3,162 are allowed here"):
            evaluate(template, names, "f")


def test_a_path_that_ends_at_a_value_is_walked_as_far_as_it_goes() -> None:
    names: dict[str, JsonValue] = {"x": {"l": list[JsonValue]([0] * 4_000)}}
    with pytest.raises(InvalidExpression, match="iterates over 4,000 elements"):
        evaluate("${x.l.none.filter(a, a > 1).filter(b, b.filter(c, c > 1))}", names, "f")


def test_an_expression_may_name_what_is_not_there_before_what_is() -> None:
    assert evaluate("${has(a.b) ? a.b : z.c}", {"z": {"c": 1}, "a": {}}, "f") == 1
    assert evaluate("${true ? z : (none ? a : none)}", {"z": 1, "a": 2}, "f") == 1
