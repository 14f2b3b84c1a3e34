"""The steps and inputs of a skill: what the short forms mean, and where each mistake is found."""

import pytest

from perdure.errors import InvalidSkill
from perdure.skills.library import read_skill
from perdure.skills.step_reader import read_input
from perdure.skills.steps import EventStep, ForEach, Parallel, PromptStep
from perdure.skills.templates import InputSpec, InputType

A_MAPPING = "write a mapping: name: value"
A_LIST = "write a list"
WHEN = "did you mean 'when'?"
DEEP = "make its list in a tool"


def each(name: str, inner: str) -> str:
    return f"{{for_each: '${{[1]}}', as: {name}, steps: [{inner}]}}"


def beside(inner: str) -> str:
    return f"{{parallel: [{{id: other, tool: t}}, {inner}]}}"


@pytest.mark.parametrize(
    ("step", "field", "fix"),
    [
        ("look", "steps[1]", A_MAPPING),
        ("{id: a}", "steps[1]", "add tool: name"),
        ("{kind: tool, id: a, tool: t}", "steps[1].kind", ""),
        ("{id: a, tool: t, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, tool: t, compensate: undo}", "steps[1].compensate", A_MAPPING),
        ("{id: a, tool: t, compensate: {tol: undo}}", "steps[1].compensate.tol", "did you mean 'tool'?"),
        ("{id: a, tool: t, ask: q, answer: 3}", "steps[1].answer", A_MAPPING),
        ("{id: a, tool: t, ask: q, answer: intger}", "steps[1].answer.type", "did you mean 'integer'?"),
        ("{id: a, prompt: x, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, prompt: x, uses: {name: p}}", "steps[1].uses", "did you mean 'prompt'?"),
        ("{id: a, prompt: {nme: p}}", "steps[1].prompt.nme", "did you mean 'name'?"),
        ("{id: a, prompt: {1: p}}", "steps[1].prompt", "put it in quotes"),
        ("{id: a, recall: licences}", "steps[1].recall", A_MAPPING),
        ("{id: a, recall: {txt: x}}", "steps[1].recall.txt", "did you mean 'text'?"),
        ("{id: a, recall: {text: x}, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, remember: it}", "steps[1].remember", A_LIST),
        ("{id: a, remember: [it]}", "steps[1].remember[0]", A_MAPPING),
        ("{id: a, remember: [{memory: x}, {lan: pattern}]}", "steps[1].remember[1].lan", "did you mean 'lane'?"),
        ("{id: a, remember: [{memory: x, typ: fact}]}", "steps[1].remember[0].typ", "did you mean 'type'?"),
        ("{id: a, remember: [{memory: x}], wen: x}", "steps[1].wen", WHEN),
        ("{let: x}", "steps[1].let", A_MAPPING),
        ("{id: a, wait: 2h, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, wait: {event: e}, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, wait: {evnt: e}}", "steps[1].wait.evnt", "did you mean 'event'?"),
        ("{id: a, wait: {1: e}}", "steps[1].wait", "put it in quotes"),
        ("{id: a, skill: s, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, skill: s, remember: x}", "steps[1].remember", A_LIST),
        ("{id: a, skill: s, on_failure: ask}", "steps[1].on_failure", "write it in the steps of that skill"),
        ("{id: a, activity: A, queue: q, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, activity: A, queue: q, effect: onec}", "steps[1].effect", "did you mean 'once'?"),
        ("{id: a, activity: A, queue: q, remember: x}", "steps[1].remember", A_LIST),
        ("{id: a, workflow: W, queue: q, wen: x}", "steps[1].wen", WHEN),
        ("{id: a, workflow: W, queue: q, remember: x}", "steps[1].remember", A_LIST),
        ("{for_each: '${[1]}', as: n, steps: x}", "steps[1].steps", A_LIST),
        (each("n", "x"), "steps[1].steps[0]", A_MAPPING),
        ("{for_each: '${[1]}', as: n, steps: [{id: a, tool: t}], wen: x}", "steps[1].wen", WHEN),
        ("{parallel: x}", "steps[1].parallel", A_LIST),
        (beside("x"), "steps[1].parallel[1]", A_LIST),
        (beside("[x]"), "steps[1].parallel[1][0]", A_MAPPING),
        ("{parallel: [{id: a, tool: t}, {id: b, tool: t}], wen: x}", "steps[1].wen", WHEN),
        (
            each("a", each("b", each("c", each("d", "{id: s, tool: t}")))),
            "steps[1].steps[0].steps[0].steps[0]",
            DEEP,
        ),
        (
            beside("[" + beside("[" + beside(beside("{id: s, tool: t}")) + "]") + "]"),
            "steps[1].parallel[1][0].parallel[1][0].parallel[1]",
            DEEP,
        ),
    ],
)
def test_a_mistake_is_found_where_it_stands(step: str, field: str, fix: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        read_skill(f"name: x\nsteps: [{{id: first, tool: t}}, {step}]")
    assert (caught.value.field, caught.value.fix) == (field, fix)


def test_three_blocks_may_be_within_one_another() -> None:
    inner = each("c", "{id: s, tool: t}")
    outer = read_skill(f"name: x\nsteps: [{each('a', beside(f'[{inner}]'))}]").steps[0]
    assert isinstance(outer, ForEach)
    lanes = outer.steps[0]
    assert isinstance(lanes, Parallel)
    assert [step.id for step in lanes.lanes[1]] == ["c"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("integer", InputSpec(type=InputType.INTEGER)),
        (None, InputSpec()),
        ({"type": "list", "required": False}, InputSpec(type=InputType.LIST, required=False)),
        ({"default": "a"}, InputSpec(default="a", required=False)),
    ],
)
def test_an_input_is_a_type_or_a_mapping_or_left_empty(written: object, found: InputSpec) -> None:
    assert read_input(written, "inputs.n") == found


@pytest.mark.parametrize(
    ("written", "field", "fix"),
    [
        (["a"], "inputs.n", A_MAPPING),
        ({"typ": "list"}, "inputs.n.typ", "did you mean 'type'?"),
        ("strin", "inputs.n.type", "did you mean 'string'?"),
    ],
)
def test_a_mistake_in_an_input_is_found_where_it_stands(written: object, field: str, fix: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        read_input(written, "inputs.n")
    assert (caught.value.field, caught.value.fix) == (field, fix)


def test_the_name_of_an_event_is_as_long_as_one_may_be_and_a_template_of_it_longer() -> None:
    template = f"paid ${{{'0 + ' * 60}task.id}}"
    step = read_skill(f"name: x\nsteps: [{{id: a, wait: {{event: '{template}'}}}}]").steps[0]
    assert isinstance(step, EventStep)
    assert step.wait.event == template
    with pytest.raises(InvalidSkill, match="has 201 characters"):
        read_skill(f"name: x\nsteps: [{{id: a, wait: {{event: {'x' * 201}}}}}]")


def test_whose_memory_a_skill_names_is_known_wherever_a_step_names_it() -> None:
    steps = (
        "{id: a, recall: {of: 'team:a', text: x}}",
        "{parallel: [{id: b, remember: [{memory: x, of: 'team:b'}]}, {id: c, tool: t}]}",
        "{id: d, tool: t, remember: [{memory: x}, {lane: pattern, key: k, payload: 1, of: 'agent:d'}]}",
        "{id: e, prompt: x, remember: [{memory: x, of: 'team:e'}]}",
        "{id: f, wait: 2h}",
    )
    owners = read_skill(f"name: x\nsteps: [{', '.join(steps)}]").owners
    assert {*owners} == {"team:a", "team:b", "agent:d", "team:e"}


def test_a_prompt_is_a_text_or_the_name_of_one() -> None:
    own, named = read_skill(
        "name: x\nsteps: [{id: a, prompt: Sum up.}, {id: b, prompt: {name: p, inputs: {of: '${inputs.n}'}}}]\n"
        "inputs: {n: string}"
    ).steps
    assert isinstance(own, PromptStep)
    assert isinstance(named, PromptStep)
    assert (own.prompt, own.uses) == ("Sum up.", None)
    assert named.prompt == ""
    assert named.uses is not None
    assert (named.uses.name, named.uses.inputs) == ("p", {"of": "${inputs.n}"})
