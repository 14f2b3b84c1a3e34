"""What no input of its declared type gives a value is found; what depends on the value, or on more, is not."""

import json
from typing import Annotated, Literal

import pytest
from pydantic import BeforeValidator

from perdure.agent.steps.input_types import argument_doubts, type_doubts
from perdure.skills.library import read_skill
from perdure.toolbox import Toolbox
from perdure.tools import Tool, tool

SKILL = """\
name: s
inputs: {{n: integer, x: number, t: string, b: boolean, l: list, a: any}}
steps:
  - {{id: one, tool: echo, args: {{value: 1}}}}
  - for_each: "${{inputs.l}}"
    as: each
    steps:
      - {{id: two, tool: echo, args: {{value: "${{{written}}}"}}}}
"""


@pytest.mark.parametrize(
    ("written", "doubted"),
    [
        ("inputs.n + 1.0", True),
        ("inputs.t + 1", True),
        ("inputs.t > 3", True),
        ("inputs.n.startsWith('a')", True),
        ("inputs.t.name", True),
        ("inputs.x * 1.2", True),
        ("inputs.x * 2", True),
        ("double(inputs.x) * 1.2", False),
        ("inputs.b ? inputs.n && true : false", False),
        ("int(inputs.t) > 3 ? 'too many of this type' : 'other types'", False),
        ("inputs.t.split('/').filter(p, p != 'a').first() + '!'", False),
        ("inputs.t.substring(3)", False),
        ("inputs.n ? 1 : 2", True),
        ("inputs.n / (inputs.n - 1)", False),
        ("int(inputs.t)", False),
        ("timestamp(inputs.t)", False),
        ("inputs.t == 3", False),
        ("inputs.a + 1.0", False),
        ("inputs.l + 1.0", False),
        ("each + inputs.n", False),
        ("steps.one.output + inputs.n", False),
        ("1 + 1.0", True),
        ("1 + 'x'", True),
        ("1 / 0", True),
        ("[1, 2].map(one, one + 'x')", True),
        ("[].map(one, one + 'x')", False),
        ("each.map(one, one + 'x')", False),
        ("1 + 1", False),
    ],
)
def test_only_what_always_fails_is_doubted(written: str, doubted: bool) -> None:
    found = [field for field, _ in type_doubts(read_skill(SKILL.format(written=written)))]
    assert found == (["steps[1].steps[0].args"] if doubted else [])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("inputs.x * 2", " for a fraction (inputs.x: number)"),
        ("1 + 'x'", "string(x) (it reads no input)"),
        ("inputs.x * 2.5", "string(x) (inputs.x: number)"),
        ("inputs.n + inputs.t + inputs.n", "string(x) (inputs.n: integer, inputs.t: string)"),
    ],
)
def test_the_types_are_named_and_a_number_may_be_whole_or_not(written: str, said: str) -> None:
    [(_, problem)] = type_doubts(read_skill(SKILL.format(written=written)))
    assert problem.endswith(said)


@pytest.mark.parametrize(
    ("written", "doubted"),
    [
        (
            "for_each: '${inputs.n}, b', as: x, steps: [{id: a, tool: t}]",
            "is text for each value that was tried, not a list",
        ),
        (
            "for_each: '${inputs.t}', as: x, steps: [{id: a, tool: t}]",
            "is text for each value that was tried, not a list",
        ),
        ("for_each: '${inputs.t.split(\",\")}', as: x, steps: [{id: a, tool: t}]", ""),
        ("for_each: '${[inputs.t]}', as: x, steps: [{id: a, tool: t}]", ""),
        ("for_each: '${steps.b.output}', as: x, steps: [{id: a, tool: t}]", ""),
        ("id: a, tool: t, when: '${inputs.n}'", "is a number for each value that was tried, not true or false"),
        ("id: a, tool: t, when: '${inputs.b}, really'", "is text for each value that was tried, not true or false"),
        ("id: a, tool: t, when: '${inputs.n > 3}'", ""),
        ("id: a, tool: t, expect: '${output}'", ""),
        ("id: a, tool: t, expect: '${output.size()}'", "is a number for each value that was tried, not true or false"),
        (
            "id: a, tool: t, expect: '${output.rows.size()}'",
            "is a number for each value that was tried, not true or false",
        ),
        ("id: a, tool: t, when: '${steps.b.output} = 3'", "is text for each value that was tried, not true or false"),
        ("id: a, tool: t, expect: '${output.n > 3 ? output.yes : output.no}'", ""),
        ("id: a, tool: t, expect: '${output.size() > 0 && output.all(x, x)}'", ""),
        ("id: a, tool: t, expect: '${output[0]}'", ""),
        ("id: a, tool: t, expect: '${output.rows.filter(x, x)[0]}'", ""),
        ("id: a, tool: t, expect: '${output.a + output.b + output.c + output.d}'", ""),
        (
            "for_each: '${steps.b.output.size()}', as: x, steps: [{id: a, tool: t}]",
            "is a number for each value that was tried, not a list",
        ),
        ("for_each: '${steps.b.output.filter(x, x.due)}', as: x, steps: [{id: a, tool: t}]", ""),
        ("id: a, tool: t, expect: '${inputs.t}'", "is text for each value that was tried, not true or false"),
    ],
)
def test_a_list_and_a_condition_are_no_text_and_no_number(written: str, doubted: str) -> None:
    inputs = "inputs: {n: integer, t: string, b: boolean}"
    skill = read_skill(f"name: s\n{inputs}\nsteps: [{{id: b, tool: t}}, {{{written}}}]")
    assert [problem for _, problem in type_doubts(skill)] == ([doubted] if doubted else [])


def test_a_prompt_by_name_has_inputs_of_its_own() -> None:
    written = '{name: s, inputs: {n: integer}, steps: [{id: a, prompt: {name: p, inputs: {n: "${inputs.n}"}}}]}'
    skill = read_skill(written)
    [step] = skill.steps
    filled = skill.changed(steps=(step.changed(prompt="${inputs.n + 'a'}"),))
    assert list(type_doubts(filled)) == []


def test_checks_output_and_expectations_are_looked_at_too() -> None:
    more = (
        'checks: [{check: "${inputs.n > inputs.t}", otherwise: no}]\noutput: "${-inputs.t}"\nexpect: "${!inputs.n}"\n'
    )
    found = [field for field, _ in type_doubts(read_skill(SKILL.format(written="1") + more))]
    assert found == ["checks[0].check", "output", "expect"]


@tool(effect="read")
async def ship(
    count: int,
    note: str,
    weight: float,
    fast: bool,
    colour: Literal["red", "blue"],
    tags: list[str],
    read: Annotated[int, BeforeValidator(int)] = 1,
) -> str:
    return f"{count}{note}{weight}{fast}{colour}{tags}{read}"


@pytest.mark.parametrize(
    ("argument", "written", "doubted"),
    [
        ("count", "${inputs.t}", ("text", "a whole number", "t: string")),
        ("count", "${inputs.n}", None),
        ("count", "${inputs.x}", None),
        ("count", "${int(inputs.t)}", None),
        ("count", "${inputs.b}", ("a boolean", "a whole number", "b: boolean")),
        ("note", "${inputs.n}", ("a number", "text", "n: integer")),
        ("note", "${inputs.n} pieces", None),
        ("note", "${inputs.a}", None),
        ("weight", "${inputs.n}", None),
        ("fast", "${inputs.n > 1}", None),
        ("fast", "${inputs.t}", ("text", "a boolean", "t: string")),
        ("colour", "${inputs.t}", None),
        ("tags", "${inputs.t.split(',')}", None),
        ("tags", "${inputs.t}", ("text", "a list", "t: string")),
        ("tags", "${inputs.t == 'special' ? ['a'] : 'x'}", None),
        ("read", "${inputs.t}", None),
    ],
)
def test_an_argument_of_another_type_than_the_tools_is_doubted(
    argument: str, written: str, doubted: tuple[str, str, str] | None
) -> None:
    given: dict[str, object] = {"count": 1, "note": "n", "weight": 1.5, "fast": True, "colour": "red", "tags": []}
    given[argument] = written
    inputs = "{n: integer, x: number, t: string, b: boolean, l: list, a: any}"
    skill = read_skill(f"name: s\ninputs: {inputs}\nsteps: [{{id: one, tool: ship, args: {json.dumps(given)}}}]\n")
    found = []
    if doubted:
        told = "is {} for each value that was tried, and 'ship' takes {} (inputs.{})".format(*doubted)
        found = [(f"steps[0].args.{argument}", told)]
    assert list(argument_doubts(skill, Toolbox([ship]))) == found


def test_what_undoes_a_step_is_looked_at_too() -> None:
    undo = '{tool: ship, args: {count: "${inputs.t}", note: n, weight: 1.5, fast: true, colour: red, tags: []}}'
    arguments = "{count: 1, note: n, weight: 1.5, fast: true, colour: red, tags: []}"
    step = f"{{id: one, tool: ship, args: {arguments}, compensate: {undo}}}"
    skill = read_skill(f"name: s\ninputs: {{t: string}}\nsteps: [{step}]\n")
    [(field, _)] = argument_doubts(skill, Toolbox([ship]))
    assert field == "steps[0].compensate.args.count"


@pytest.mark.parametrize("properties", [None, {"count": True}, {"count": {"type": ["string", "null"]}}, {"count": {}}])
def test_a_schema_that_says_no_type_leads_to_no_doubt(properties: object, monkeypatch: pytest.MonkeyPatch) -> None:
    # A server of MCP's is free in its JSON Schema.
    monkeypatch.setattr(Tool, "schema", property(lambda _: {"properties": properties}))
    skill = read_skill('name: s\ninputs: {t: string}\nsteps: [{id: one, tool: ship, args: {count: "${inputs.t}"}}]\n')
    assert list(argument_doubts(skill, Toolbox([ship]))) == []
