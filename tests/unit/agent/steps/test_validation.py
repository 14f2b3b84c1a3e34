"""A task is checked as a whole before its first step."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.agent.steps.calls import StepCall
from perdure.agent.steps.validation import check_linked, check_skill, checked_arguments, checked_inputs
from perdure.errors import InvalidArguments, InvalidExpression, InvalidInput
from perdure.skills.library import read_skill
from perdure.skills.linked_skills import LinkedSkill
from perdure.skills.shape import Skill
from perdure.skills.templates import InputSpec
from perdure.toolbox import Toolbox

BOX = Toolbox.load(["tests.support.tools"])
HEAD = "name: x\ninputs: {names: list, n: {type: integer, default: 3}}\n"


def test_reads_are_cut_to_what_is_handed_over() -> None:
    skill = read_skill(
        HEAD
        + """
steps:
  - {id: a, tool: echo, args: {value: "${inputs.names[0].x}"}}
  - for_each: "${inputs.names}"
    as: one
    id: walk
    steps:
      - {id: b, tool: look, args: {name: "${one.name + steps.a.output.deep.er}"}, expect: "${output.licence == answer}"}
      - {id: c, tool: echo, args: {value: "${index + inputs.n}"}, when: "${steps.b.status == 'done'}"}
output: "${steps.walk.done + steps.a.output}"
expect: "${output != task.id}"
"""
    )
    assert check_skill(skill, BOX) == {
        "a": (("inputs", "names"),),
        "walk": (("inputs", "names"),),
        "b": (("one",), ("steps", "a", "output")),
        "c": (("index",), ("inputs", "n"), ("steps", "b", "status")),
        "": (("steps", "a", "output"), ("steps", "walk", "done"), ("task",)),
    }


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("[{id: a, tool: ecko}]", r"PRD102 steps\[0\].tool: there is no tool 'ecko' \(did you mean 'echo'\?\)"),
        ("[{id: a, tool: echo, args: {valu: 1}}]", r"steps\[0\].args.valu: .*did you mean 'value'"),
        ("[{id: a, tool: look}]", r"steps\[0\].args.name: tool 'look' needs it"),
        ("[{id: a, tool: look, args: {name: 3}}]", r"PRD104 steps\[0\].args.name: is a number"),
        ("[{id: a, tool: look, args: {name: '${inputs.n}', known: 3}}]", r"steps\[0\].args.known"),
        ("[{id: a, tool: echo, args: {value: '${inputs.nams}'}}]", r"PRD103 .*no input 'nams' \(did you mean 'names'"),
        ("[{id: a, tool: echo, args: {value: '${steps.b.output}'}}]", "no step before this one 'b'"),
        (
            "[{id: a, tool: echo, args: {value: '${steps.a.output}'}}]",
            r"no step before this one 'a' \(steps\[0\] has not ended then: move it before this step",
        ),
        (
            "[{id: a, tool: echo, args: {value: 1}}, {id: b, tool: echo, args: {value: '${steps.aa.output}'}}]",
            r"no step before this one 'aa' \(did you mean 'a'\?\)",
        ),
        (
            "[{for_each: '${inputs.names}', as: t, steps: [{id: a, tool: echo, args: {value: '${steps.b.output}'}}, "
            "{id: b, tool: echo, args: {value: 1}}]}]",
            r"no step before this one 'b' \(steps\[0\].steps\[1\] has not ended then",
        ),
        ("[{id: a, tool: echo, args: {value: 1}}, {id: b, tool: echo, args: {value: '${steps.a.outpt}'}}]", "'output'"),
        ("[{id: a, tool: echo, args: {value: '${task.dat}'}}]", "no field of task 'dat'"),
        ("[{id: a, tool: echo, args: {value: '${thing}'}}]", "no name 'thing'"),
        ("[{id: a, tool: echo, args: {value: '${index}'}}]", "no name 'index'"),
        ("[{id: a, tool: echo, args: {value: '${output}'}}]", r"steps\[0\].args: there is no name 'output'"),
        (
            "[{id: a, tool: echo, args: {value: '${inputs}'}}]",
            r"steps\[0\].args: names all inputs at once .*inputs.name",
        ),
        ("[{id: a, tool: echo, args: {value: '${steps}'}}]", r"steps\[0\].args: names all steps at once .*steps.id"),
        (
            "[{for_each: '${inputs.names}', as: t, steps: [{id: a, tool: echo, args: {value: 1}}]}, "
            "{id: b, tool: echo, args: {value: '${steps.a.output}'}}]",
            r"no step before this one 'a' \(steps\[0\].steps\[0\] stands in a for_each, and no step outside",
        ),
    ],
)
def test_a_mistake_is_named(steps: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_skill(read_skill(f"{HEAD}steps: {steps}"), BOX)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ("output: '${inputs.nams}'", "output"),
        ("expect: '${output == inputs.nams}'", "expect"),
        ("expect: '${task.dat != output}'", "expect"),
        ("judge: 'It names ${inputs.nams}.'", "judge"),
        ("judge: 'It names ${steps.b.output}.'", "judge"),
        ("judge: 'It names ${nams}.'", "judge"),
    ],
)
def test_a_name_that_is_not_there_at_the_end_is_found_where_it_stands(more: str, field: str) -> None:
    with pytest.raises(InvalidExpression) as caught:
        check_skill(read_skill(f"{HEAD}steps: [{{id: a, tool: echo, args: {{value: 1}}}}]\n{more}"), BOX)
    assert caught.value.field == field


def test_every_skill_is_checked_that_one_within_another_runs() -> None:
    def skill(name: str, step: str) -> Skill:
        return read_skill(f"name: {name}\ninputs: {{n: integer}}\nsteps: [{{id: a, {step}}}]")

    outer = skill("outer", "skill: middle, inputs: {n: '${inputs.n}'}")
    middle = skill("middle", "skill: inner, inputs: {n: 3}")
    inner = skill("inner", "tool: echo, args: {value: '${inputs.n}'}")
    linked = LinkedSkill(skill=outer, inner={"middle": middle, "inner": inner})
    assert check_linked(linked, BOX) == {
        "outer": {"a": (("inputs", "n"),), "": ()},
        "middle": {"a": (), "": ()},
        "inner": {"a": (("inputs", "n"),), "": ()},
    }
    wrong = skill("middle", "skill: inner, inputs: {n: x}")
    with pytest.raises(InvalidInput, match=r"middle: steps\[0\].inputs.n: is text"):
        check_linked(LinkedSkill(skill=outer, inner={"middle": wrong, "inner": inner}), BOX)


def test_a_default_of_the_wrong_type_is_refused() -> None:
    skill = read_skill("name: x\ninputs: {n: {type: integer, default: '3'}}\nsteps: [{id: a, tool: who}]")
    with pytest.raises(InvalidInput, match=r"PRD102 inputs.n.default: is text \(give a whole number\)"):
        check_skill(skill, BOX)


def test_inputs() -> None:
    skill = read_skill(HEAD + "steps: [{id: a, tool: echo, args: {value: 1}}]")
    assert checked_inputs(skill, {"names": ["a"]}) == {"names": ["a"], "n": 3}
    with pytest.raises(InvalidInput, match=r"PRD101 inputs.names: is missing"):
        checked_inputs(skill, {})
    with pytest.raises(InvalidInput, match=r"inputs.nams: skill 'x' has no such input .did you mean 'names'"):
        checked_inputs(skill, {"nams": []})
    with pytest.raises(InvalidInput, match=r"inputs.n: is text .give a whole number"):
        checked_inputs(skill, {"names": [], "n": "3"})


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{id: b, tool: echo, args: {value: '${steps.a.answer}'}}", "there is no part of steps.a 'answer'"),
        ("{id: b, prompt: 'x ${output}'}", "there is no name 'output'"),
        ("{id: b, prompt: x, remember: [{memory: '${answer}'}]}", "there is no name 'answer'"),
        ("{id: b, prompt: x, output: {n: strin}}", "steps[1].output.n"),
        ("{id: b, prompt: x, ask: y}", "steps[1].ask: is not a field here"),
    ],
)
def test_a_mistake_in_a_prompt_is_named(step: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_skill(read_skill(HEAD + f"steps:\n  - {{id: a, prompt: x, output: {{n: integer}}}}\n  - {step}"), BOX)
    assert message in str(caught.value)


NAMED = """
steps:
  - let: {a: "${inputs.n + 1}"}
  - let: {b: "${a.deep.er}", c: 3}
  - for_each: "${inputs.names}"
    as: one
    steps:
      - let: {d: "${a + index}"}
      - {id: s, tool: echo, args: {value: "${d + b.x}"}}
output: "${a}"
expect: "${b == output}"
"""


def test_a_name_stands_for_a_part_of_its_let() -> None:
    assert check_skill(read_skill(HEAD + NAMED), BOX) == {
        "let a": (("inputs", "n"),),
        "let b": (("steps", "let a", "a"),),
        "one": (("inputs", "names"),),
        "let d": (("index",), ("steps", "let a", "a")),
        "s": (("steps", "let b", "b"), ("steps", "let d", "d")),
        "": (("steps", "let a", "a"), ("steps", "let b", "b")),
    }


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ('[{let: {a: 1, b: "${a}"}}]', r"steps\[0\].let: there is no name 'a'"),
        ('[{id: s, tool: echo, args: {value: "${a}"}}, {let: {a: 1}}]', "there is no name 'a'"),
        ('[{let: {total: 1}}, {id: s, tool: echo, args: {value: "${totl}"}}]', "did you mean 'total'"),
        (
            "[{for_each: '${[1]}', as: n, steps: [{let: {a: 1}}]}, {id: s, tool: echo, args: {value: '${a}'}}]",
            "there is no name 'a'",
        ),
        (
            "[{parallel: [[{let: {a: 1}}], {id: s, tool: echo, args: {value: '${a}'}}]}]",
            "there is no name 'a'",
        ),
        (
            "[{parallel: [[{let: {a: 1}}], {id: r, tool: who}]}, {id: s, tool: echo, args: {value: '${a}'}}]",
            "there is no name 'a'",
        ),
        (
            "[{let: {a: 1}}, {id: s, tool: echo, args: {value: '${steps[\"let a\"].a}'}}]",
            "no step before this one 'let a'",
        ),
    ],
)
def test_a_name_is_known_behind_its_let_and_within_its_block_alone(rest: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_skill(read_skill(f"{HEAD}steps: {rest}"), BOX)


def test_a_step_can_shorten_the_time_of_its_tool_and_not_lengthen_it() -> None:
    def skill(tool: str, timeout: str) -> Skill:
        return read_skill(f"{HEAD}steps: [{{id: a, tool: {tool}, args: {{ledger: x, line: y}}, timeout: {timeout}}}]")

    check_skill(skill("append", "2s"), BOX)
    check_skill(skill("dwell", "5s"), BOX)
    for tool, timeout, most in (("append", "3s", "2 s"), ("dwell", "1m", "5 s")):
        with pytest.raises(InvalidInput, match=rf"steps\[0\].timeout: {timeout} is longer than the {most} that tool"):
            check_skill(skill(tool, timeout), BOX)


@given(declared=st.floats(0.1, 4_000), seconds=st.integers(1, 5_000))
def test_a_call_is_never_cut_off_later_than_its_tool_declares(declared: float, seconds: int) -> None:
    context = {"tenant": "t", "session": "s", "task_id": "t", "path": "a", "occurred_at": "2026-01-02T00:00:00Z"}
    acting = {"user": "ada", "agent": "a", "skill": "s", "task_skill": "s", "date": "2026-01-02", "done": 0}
    step = {"id": "a", "tool": "echo", "timeout": f"{seconds}s"}
    call = StepCall.model_validate({**context, "acting": acting, "step": step})
    assert call.cut_after(declared) == min(declared, seconds)
    plain = call.changed(step=call.step.changed(timeout=None))
    assert plain.cut_after(declared) == declared


def test_an_input_of_a_type_that_this_build_does_not_know_is_named_by_it() -> None:
    newer = InputSpec.model_validate({"type": "moment"})
    skill = read_skill("name: x\nsteps: [{id: a, tool: who}]").changed(inputs={"at": newer})
    assert checked_inputs(skill, {"at": ["anything"]}) == {"at": ["anything"]}
    with pytest.raises(InvalidInput, match=r"inputs.at: is missing .give a value of type moment"):
        checked_inputs(skill, {})


CHECKED = read_skill(
    HEAD
    + """
requires: {tools: [echo]}
checks: [{check: "${inputs.n > 2}", otherwise: too few}, {check: "${inputs.names.size() > 0}", otherwise: no names}]
steps: [{id: a, tool: look, args: {name: x}}]
"""
)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"names": ["a"], "n": 2}, r"PRD101 checks\[0\]: skill 'x' refuses these inputs: too few .*inputs.n > 2"),
        ({"names": []}, r"PRD101 checks\[1\]: .*no names"),
        ({"names": ["a"], "n": "3"}, r"PRD101 inputs.n: is text"),
    ],
)
def test_checks_are_asked_once_the_inputs_are_what_they_should_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        checked_inputs(CHECKED, given)
    assert checked_inputs(CHECKED, {"names": ["a"]}) == {"names": ["a"], "n": 3}


def test_a_check_that_has_no_value_refuses_as_well() -> None:
    skill = read_skill(
        "name: x\ninputs: {n: {type: integer, required: false}}\nchecks: [{check: '${inputs.n > 2}', otherwise: few}]\n"
        "steps: [{id: a, tool: look, args: {name: x}}]\n"
    )
    assert checked_inputs(skill, {"n": 3}) == {"n": 3}
    with pytest.raises(InvalidInput, match=r"PRD103 checks\[0\].check"):
        checked_inputs(skill, {})


def test_a_required_tool_is_looked_for_like_one_that_a_step_calls() -> None:
    assert check_skill(CHECKED, BOX)
    lacking = CHECKED.changed(requires={"tools": ["echo", "ecko"]})
    with pytest.raises(InvalidInput, match=r"PRD102 requires.tools\[1\]: there is no tool 'ecko' .*'echo'"):
        check_skill(lacking, BOX)


@pytest.mark.parametrize(
    ("written", "value", "message"),
    [
        (
            "${steps.a.output}",
            None,
            r"b.args.name: is empty: \$\{steps.a.output\} gave nothing \(skip the step .* when",
        ),
        ("${steps.a.output}", 3, r"b.args.name: is a number \(put it in quotes\)"),
        (None, None, r"b.args.name: is empty \(write text\)"),
    ],
)
def test_of_an_argument_that_an_expression_left_empty_the_expression_is_named(
    written: str | None, value: int | None, message: str
) -> None:
    with pytest.raises(InvalidArguments, match=message):
        checked_arguments(BOX.get("look"), {"name": value}, {"name": written}, "b.args")
    assert checked_arguments(BOX.get("look"), {"name": "x"}, {"name": written}, "b.args")["name"] == "x"
