"""The kinds of steps: which of their fields may hold expressions, and where one that does not parse is found."""

import pytest

from perdure.errors import InvalidExpression
from perdure.skills.library import read_skill
from perdure.skills.steps import templates_of

STEPS = """
name: x
steps:
  - id: a
    tool: t
    args: {n: "${task.id}"}
    retry: 2
    timeout: 3s
    expect: "${true}"
    ask: Which?
    answer: integer
    compensate: {tool: u, args: {}}
  - {id: b, prompt: Sum up., model: "openai:x", output: {text: string}, expect: "${true}"}
  - {id: c, prompt: {name: p, inputs: {n: "${task.id}"}}}
  - {id: d, recall: {text: x}}
  - {id: e, remember: [{memory: x}], critical: true}
  - {let: {f: 1}}
  - {id: g, wait: 2h}
  - {id: h, wait: {event: e}}
  - {id: i, skill: s, inputs: {n: 1}}
  - {id: j, activity: A, queue: q, args: [1], effect: read, timeout: 2m, retry: 1}
  - {id: k, workflow: W, queue: q, args: [1]}
  - {for_each: "${[1]}", as: l, at_once: 2, steps: [{id: m, tool: t}]}
  - {parallel: [{id: n, tool: t}, {id: o, tool: t}], id: p}
"""

ACTION = {"when", "expect", "on_failure", "remember", "critical"}
BY_STEP = {
    "a": {*ACTION, "args", "ask", "approve", "compensate"},
    "b": {*ACTION, "prompt"},
    "c": {*ACTION, "prompt.inputs"},
    "d": {"recall", "when"},
    "e": {"remember", "when", "on_failure", "critical"},
    "let f": {"let"},
    "g": {"wait", "when"},
    "h": {"wait", "when"},
    "i": {"inputs", "when", "on_failure", "remember", "critical"},
    "j": {*ACTION, "args", "approve"},
    "k": {*ACTION, "args", "approve"},
    "l": {"for_each", "when"},
    "p": {"when"},
}


def test_which_fields_of_a_step_may_hold_expressions() -> None:
    steps = read_skill(STEPS).steps
    assert {step.id: {*templates_of(step)} for step in steps} == BY_STEP
    named = next(step for step in steps if step.id == "c")
    assert templates_of(named)["prompt.inputs"] == {"n": "${task.id}"}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("steps: [{id: a, prompt: {name: p, inputs: {n: '${1 +}'}}}]", "steps[0].prompt.inputs.n"),
        ("steps: [{for_each: '${1 +}', as: n, steps: [{id: a, tool: t}]}]", "steps[0].for_each"),
        ("steps: [{id: a, tool: t}]\noutput: {b: '${1 +}'}", "output.b"),
        ("steps: [{id: a, tool: t}]\nexpect: '${1 +}'", "expect"),
        ("steps: [{id: a, tool: t}]\njudge: 'It is ${1 +}.'", "judge"),
    ],
)
def test_an_expression_that_does_not_parse_is_found_where_it_stands(text: str, field: str) -> None:
    with pytest.raises(InvalidExpression) as caught:
        read_skill(f"name: x\n{text}")
    assert caught.value.field == field


def test_what_is_no_expression_may_look_like_one() -> None:
    skill = read_skill("name: x\nsteps: [{id: a, activity: '${A', queue: '${q'}, {id: b, workflow: 'W${', queue: q}]")
    assert [step.id for step in skill.steps] == ["a", "b"]
