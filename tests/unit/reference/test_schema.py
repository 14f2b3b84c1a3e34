"""The schemas for editors take what the readers take, and refuse what these refuse."""

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from perdure.errors import InvalidInput
from perdure.reference.schema import WRITTEN, schema_of
from perdure.yaml_text import read_document

FOLDERS = {"skill": "skills", "agent": "agents", "policy": "policies", "prompt": "prompts"}
KEYS = {"skill": "steps", "task": "task_id", "agent": "instructions", "policy": "rationale", "prompt": "template"}
"""A key that stands in every document of a kind, and in no other's."""

PACKAGED = [
    (kind, path) for kind, folder in FOLDERS.items() for path in sorted(Path("playbooks").rglob(f"{folder}/*.yaml"))
]
BLOCKS = [
    block
    for page in (Path("README.md"), *sorted(Path("docs").rglob("*.md")))
    for block in re.findall(r"^```yaml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
]
SHOWN = [(kind, block) for kind, key in KEYS.items() for block in BLOCKS if f"\n{key}:" in f"\n{block}"]

SKILL = "name: s\ninputs: {list: list}\nsteps:\n  - "
CALL = "{id: a, tool: t}\n"
BROKEN = {
    "no name": ("skill", "steps: [{id: a, tool: t}]\n"),
    "no steps": ("skill", "name: s\nsteps: []\n"),
    "an unknown field": ("skill", f"{SKILL}{CALL}stesp: []\n"),
    "an unknown field of a step": ("skill", f"{SKILL}{{id: a, tool: t, arg: {{}}}}\n"),
    "no action": ("skill", f"{SKILL}{{id: a}}\n"),
    "two actions": ("skill", f"{SKILL}{{id: a, tool: t, prompt: x}}\n"),
    "what the reader adds": ("skill", f"{SKILL}{{id: a, tool: t, kind: tool}}\n"),
    "a bad id": ("skill", f"{SKILL}{{id: A b, tool: t}}\n"),
    "a bad name of an input": ("skill", f"name: s\ninputs: {{A b: string}}\nsteps: [{CALL}]\n"),
    "an unknown type": ("skill", f"name: s\ninputs: {{a: strng}}\nsteps: [{CALL}]\n"),
    "an unknown choice": ("skill", f"{SKILL}{{id: a, tool: t, on_failure: contine}}\n"),
    "too often": ("skill", f"{SKILL}{{id: a, tool: t, retry: 1001}}\n"),
    "a question that is never asked": ("skill", f"{SKILL}{{id: a, tool: t, ask: q}}\n"),
    "an answer to nothing": ("skill", f"{SKILL}{{id: a, tool: t, answer: text}}\n"),
    "keys of no lane": ("skill", f"{SKILL}{{id: a, recall: {{keys: [k]}}}}\n"),
    "one step side by side": ("skill", f"{SKILL}{{parallel: [{{id: a, tool: t}}]}}\n"),
    "a walk without a name": ("skill", f"{SKILL}{{for_each: '${{inputs.list}}', steps: [{{id: a, tool: t}}]}}\n"),
    "a version of a prompt": ("skill", f"{SKILL}{{id: a, prompt: {{name: p, version: x}}}}\n"),
    "a mistake inside a block": ("skill", f"{SKILL}{{for_each: x, as: e, steps: [{{id: a, tol: t}}]}}\n"),
    "a task without a user": ("task", "task_id: t\nskill: s\n"),
    "an unknown field of a task": ("task", "task_id: t\nuser_id: u\nskil: s\n"),
    "an unknown limit": ("task", "task_id: t\nuser_id: u\nskill: s\nlimits: {step: 3}\n"),
    "a field of the reader": ("agent", "name: a\nprompt: {name: p}\n"),
    "too many turns": ("agent", "name: a\nturns: 10001\n"),
    "a policy without a reason": ("policy", "name: p\nlevel: hard\nwhen: ${true}\n"),
    "an unknown level": ("policy", "name: p\nrationale: r\nlevel: hart\nwhen: ${true}\n"),
    "a prompt without a text": ("prompt", "name: p\n"),
}


def problems(kind: str, text: str) -> list[str]:
    return [error.message for error in Draft7Validator(schema_of(kind)).iter_errors(read_document(text, "it"))]


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_schema_is_one(kind: str) -> None:
    Draft7Validator.check_schema(schema_of(kind))


@pytest.mark.parametrize(("kind", "path"), PACKAGED, ids=str)
def test_what_comes_packaged_fits(kind: str, path: Path) -> None:
    assert problems(kind, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("kind", "text"), SHOWN, ids=lambda one: one.splitlines()[0])
def test_what_the_documentation_shows_fits(kind: str, text: str) -> None:
    assert problems(kind, text) == []


def test_there_is_something_of_each_kind() -> None:
    assert {kind for kind, _ in SHOWN} == {*WRITTEN}
    assert {kind for kind, _ in PACKAGED} == {"skill", "agent", "policy"}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_broken_is_refused(broken: str) -> None:
    assert problems(*BROKEN[broken])


@pytest.mark.parametrize(
    "step",
    [
        "{id: a, tool: t, expect: '${output}', ask: q, answer: integer}",
        "{id: a, tool: t, expect: '${output}', ask: q, answer: {type: choice, choices: [x, y]}}",
        "{id: a, prompt: {name: p, inputs: {x: 1}}, output: {n: integer}}",
        "{id: a, wait: {event: paid, deadline: 2d, otherwise: no}}",
        "{id: a, remember: [{memory: m}, {lane: pattern, key: k, payload: {}}]}",
        "{id: a, recall: {text: x}}",
        "{let: {a: 1}}",
        "{id: a, activity: Charge, queue: q, args: [1]}",
        "{id: p, parallel: [{id: a, tool: t}, [{id: b, tool: t}]]}",
    ],
)
def test_each_form_of_a_step_fits(step: str) -> None:
    assert problems("skill", f"name: s\nsteps:\n  - {step}\n") == []


def test_a_kind_that_there_is_not_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"there is no schema of 'skil' .did you mean 'skill'"):
        schema_of("skil")


def fields(kind: str) -> list[tuple[str, str, dict[str, Any]]]:
    schema = schema_of(kind)
    models = {WRITTEN[kind].__name__: schema, **schema.get("$defs", {})}
    return [(model, name, one) for model in models for name, one in models[model].get("properties", {}).items()]


@pytest.mark.parametrize("kind", WRITTEN)
def test_every_field_says_what_it_means(kind: str) -> None:
    assert [f"{model}.{name}" for model, name, one in fields(kind) if not one.get("description")] == []
