"""Prompts: texts with inputs that several skills and agents use by name. Read from YAML; asks no model."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, JsonValue

from perdure.documents import kind_of, mapping, validated
from perdure.errors import InvalidExpression, InvalidInput
from perdure.expressions.evaluation import evaluate, references, written
from perdure.identity import digest
from perdure.model import Name, Passed, spelled
from perdure.registry.folders import Folders
from perdure.suggestions import nearest
from perdure.yaml_text import read_document

LONGEST_TEMPLATE = 20_000
"""Characters of a prompt's template: as many as an agent's instructions may have."""

InputName = Annotated[
    str,
    spelled(r"[a-z_][a-z0-9_]{0,39}", "name here", "lower-case letters, digits, '_'; start with no digit; at most 40"),
]


class PromptInput(Passed):
    """One input of a prompt."""

    required: bool = True
    """Ignored where there is a default."""
    default: JsonValue = None
    """What it is where it is not given; a plain value."""
    description: str = ""
    """What it is, for whoever uses the prompt."""


class Prompt(Passed):
    """A prompt, as its YAML says."""

    name: Name
    """Its name, which is also that of its file."""
    description: str = ""
    """What it is for, for people."""
    inputs: dict[InputName, PromptInput] = Field(default_factory=dict[str, PromptInput])
    """What its text reads, by name; the short form of one is its description."""
    template: Annotated[str, Field(min_length=1, max_length=LONGEST_TEMPLATE)]
    """Its text; each ``${…}`` in it is an expression over ``inputs``."""

    @property
    def digest(self) -> str:
        """The identity of what a model reads: a prompt that says something else is another version."""
        content = self.model_dump(mode="json", exclude_defaults=True, exclude={"name", "description"})
        for one in content.get("inputs", {}).values():
            one.pop("description", None)
        return digest("prompt/1", content)

    def require_inputs(self, given: Iterable[str], field: str, error: type[InvalidInput]) -> None:
        """Refuse inputs that it does not have, and require those that it needs.

        Raises:
            InvalidInput: Naming the input; of the class ``error``.
        """
        names = set(given)
        for name in sorted(names - self.inputs.keys()):
            fix = nearest(name, self.inputs)
            raise error(f"{field}.{name}", f"prompt {self.name!r} has no such input", fix=fix)
        for name, spec in self.inputs.items():
            if spec.required and name not in names:
                raise error(f"{field}.{name}", f"prompt {self.name!r} needs it", fix=spec.description)


class PromptUse(Passed):
    """A prompt where it is used."""

    name: Name
    """The prompt's name."""
    inputs: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Its inputs, by name."""
    version: str = ""
    """The digest of its content, once it was read; a person does not write it."""
    defaults: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Those of its inputs that are not given; a person does not write them."""

    def of(self, prompt: Prompt) -> "PromptUse":
        """Return the use of a prompt that was read."""
        defaults = {name: spec.default for name, spec in prompt.inputs.items() if name not in self.inputs}
        return self.changed(version=prompt.digest, defaults=defaults)

    @property
    def as_written(self) -> "PromptUse":
        """The use as a person wrote it."""
        return self.changed(version="", defaults={})


def pinned_version(own: str, prompts: Mapping[str, str]) -> str:
    """Return the version of a skill or an agent together with its prompts: what a task's id stands for.

    Args:
        own: The digest of its own content.
        prompts: The version of each prompt, by its name.
    """
    return digest("pinned/1", own, dict(prompts)) if prompts else own


def rendered(template: str, inputs: Mapping[str, JsonValue], field: str) -> str:
    """Return the text of a template with values of its inputs.

    Raises:
        InvalidExpression: An expression of it has no value.
    """
    return written(evaluate(template, {"inputs": dict(inputs)}, field))


def read_prompt(text: str, where: str = "prompt") -> Prompt:
    """Read a prompt from YAML.

    Args:
        text: The document.
        where: What it is, for messages about the document as a whole.

    Raises:
        InvalidInput: Naming the field, and the nearest name where one is unknown.
        InvalidExpression: An expression does not parse, or refers to what is no input.
    """
    data = dict(read_document(text, where))
    if "inputs" in data:
        inputs = mapping({} if data["inputs"] is None else data["inputs"], "inputs", InvalidInput)
        data["inputs"] = {name: _input(value, f"inputs.{name}") for name, value in inputs.items()}
    prompt = validated(Prompt, data, "")
    for name, spec in prompt.inputs.items():
        if "${" in json.dumps(spec.default):
            raise InvalidInput(f"inputs.{name}.default", "holds an expression", fix="write a plain value")
    for root, *rest in references(prompt.template, "template"):
        if root != "inputs" or not rest:
            problem = "names all inputs at once" if root == "inputs" else f"there is no name {root!r}"
            raise InvalidExpression("template", problem, fix="a prompt reads its inputs alone: inputs.name")
        if rest[0] not in prompt.inputs:
            raise InvalidExpression("template", f"there is no input {rest[0]!r}", fix=nearest(rest[0], prompt.inputs))
    return prompt


def read_use(value: object, field: str, error: type[InvalidInput]) -> PromptUse:
    """Read where a prompt is used: ``{name: …, inputs: {…}}``.

    Raises:
        InvalidInput: Naming the field; of the class ``error``.
    """
    data = mapping(value, field, error)
    for name in data.keys() & {"version", "defaults"}:
        fix = "leave it out: what the prompt is when a task starts counts for all of its life"
        raise error(f"{field}.{name}", "is not a field here", fix=fix)
    return validated(PromptUse, data, field, error)


class PromptLibrary(Folders[Prompt]):
    """The prompts in some folders."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        super().__init__(folders, kind="prompt", read=read_prompt, error=InvalidInput)

    def used(self, use: PromptUse, field: str, error: type[InvalidInput]) -> Prompt:
        """Return the prompt of a use, whose inputs it has.

        Raises:
            InvalidInput: There is none of this name, it cannot be used, or has other inputs; of the class ``error``.
        """
        try:
            prompt = self.get(use.name)
        except InvalidInput as problem:
            at = f"{problem.place}: {problem.field}" if problem.place else problem.field
            told = f"prompt {use.name!r} cannot be used: {at}: {problem.problem}"
            raise error(f"{field}.name", told, fix=problem.fix) from problem
        prompt.require_inputs(use.inputs, f"{field}.inputs", error)
        return prompt


def _input(value: Any, path: str) -> PromptInput:
    # The short form is name: what it is.
    if value is None or kind_of(value) == "text":
        return PromptInput(description=value or "")
    data = mapping(value, path, InvalidInput)
    optional = {"required": False} if "default" in data else {}
    return validated(PromptInput, {**data, **optional}, path)
