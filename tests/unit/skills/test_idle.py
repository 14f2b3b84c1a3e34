"""What would have no effect is refused when a skill is read, with its field and what to do."""

import pytest

from perdure.errors import InvalidSkill
from perdure.skills.library import read_skill


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("{id: a, tool: t, ask: 'Which?'}", r"steps\[0\].ask: is never asked without expect .add expect: .* or write"),
        ("{id: a, tool: t, critical: true}", r"steps\[0\].critical: has no effect .*remembers nothing .add remember"),
        ("{id: a, prompt: x, critical: true, remember: []}", r"steps\[0\].critical: has no effect"),
        ("{id: a, recall: {text: x, enough: 2}}", r"steps\[0\].recall.enough: has no effect without keys"),
        ("{id: a, tool: t, when: 'inputs.x'}", r"steps\[0\].when: holds no expression .write it in \$\{…\}: "),
        ("{id: a, tool: t, expect: 'output'}", r"steps\[0\].expect: holds no expression"),
        ("{for_each: inputs.x, as: e, steps: [{id: a, tool: t}]}", r"steps\[0\].for_each: holds no expression"),
        (
            "{id: a, tool: t, remember: [{memory: m, when: 'yes'}]}",
            r"steps\[0\].remember\[0\].when: holds no expression",
        ),
    ],
)
def test_what_has_no_effect_in_a_step_is_refused(step: str, problem: str) -> None:
    with pytest.raises(InvalidSkill, match=problem):
        read_skill(f"name: n\ninputs: {{x: any}}\nsteps: [{step}]\n")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("expect: output\n", "expect: holds no expression"),
        ("inputs: {x: {type: integer, required: true, default: 1}}\n", "inputs.x.required: has no effect"),
    ],
)
def test_what_has_no_effect_in_a_skill_is_refused(more: str, problem: str) -> None:
    with pytest.raises(InvalidSkill, match=problem):
        read_skill(f"name: n\nsteps: [{{id: a, tool: t}}]\n{more}")


@pytest.mark.parametrize(
    "step",
    [
        "{id: a, tool: t, expect: '${output}', ask: 'Which?'}",
        "{id: a, tool: t, critical: true, remember: [{memory: m}]}",
        "{id: a, tool: t, critical: false}",
        "{id: a, recall: {text: x, lane: pattern, keys: [k], enough: 2}}",
        "{id: a, recall: {text: x, lane: pattern, key: k, enough: 0}}",
    ],
)
def test_what_has_an_effect_is_read(step: str) -> None:
    assert read_skill(f"name: n\nsteps: [{step}]\n").steps
