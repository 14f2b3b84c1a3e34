"""JSON Schema of what people write, for editors: made from the models, with the short forms that their readers take."""

from collections.abc import Callable
from typing import Any, cast, get_args

from pydantic import BaseModel, TypeAdapter

from perdure.errors import InvalidInput
from perdure.policies.shape import Policy
from perdure.reference.meanings import about, described_by, meanings
from perdure.registry.agents import Agent
from perdure.registry.prompts import Prompt
from perdure.skills.shape import Skill
from perdure.skills.steps import Step, ToolStep
from perdure.suggestions import nearest
from perdure.values.tasks import AgentTask

Schema = dict[str, Any]

WRITTEN: dict[str, type[BaseModel]] = {
    "skill": Skill,
    "task": AgentTask,
    "agent": Agent,
    "policy": Policy,
    "prompt": Prompt,
}
"""What people write in YAML, by what it is called."""

_DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest one that editors support throughout."""


def schema_of(kind: str) -> Schema:
    """Return the JSON Schema of what people write.

    >>> schema_of("policy")["required"]
    ['name', 'rationale', 'level', 'when']

    Raises:
        InvalidInput: There is no such kind.
    """
    if kind not in WRITTEN:
        raise InvalidInput("kind", f"there is no schema of {kind!r}", fix=nearest(kind, WRITTEN))
    model = WRITTEN[kind]
    whole = TypeAdapter(model).json_schema()
    definitions: dict[str, Schema] = whole.pop("$defs", {}) | {model.__name__: whole}
    known = described_by(model)
    for name, one in definitions.items():
        if name in known:
            one["description"] = about(known[name])
            if issubclass(known[name], BaseModel):
                _describe(one, meanings(known[name]), is_step="kind" in one["properties"])
        if name in _AS_WRITTEN:
            _AS_WRITTEN[name](one)
    if kind == "skill":
        definitions["Step"] = {"anyOf": [_one(name) for name in STEPS]}
    whole = cast("Schema", _simplified(definitions.pop(model.__name__)))
    inner = cast("Schema", _simplified(definitions))
    return {"$schema": _DRAFT, "title": f"Perdure {kind}", **whole, **({"$defs": inner} if inner else {})}


STEPS: tuple[str, ...] = tuple(one.__name__ for one in get_args(get_args(Step)[0]))
"""The names of all kinds of steps."""


def _describe(one: Schema, said: dict[str, str], *, is_step: bool) -> None:
    """Add what each field means, and refuse any other, as their readers do."""
    one["additionalProperties"] = False
    if is_step:
        # What a field of several kinds of steps means is written where a tool is called.
        said = meanings(ToolStep) | said
        del one["properties"]["kind"]
    for name, field in one["properties"].items():
        field.pop("title", None)
        if name in said:
            field["description"] = said[name]


def _simplified(value: object) -> object:
    """Return a schema without titles that only repeat names, and with a union of steps as what it is called."""
    match value:
        case dict():
            entries = cast("dict[str, object]", value)
            if "discriminator" in entries:
                return _one("Step")
            # A field may be called title too.
            kept = [name for name in entries if name != "title" or isinstance(entries[name], dict)]
            return {name: _simplified(entries[name]) for name in kept}
        case list():
            return [_simplified(one) for one in cast("list[object]", value)]
        case _:
            return value


def _one(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _or_short(field: Schema, *forms: Schema) -> Schema:
    """Return a field that takes these forms, with what is said of it."""
    kept = {name: field[name] for name in ("description", "default") if name in field}
    return {**kept, "anyOf": list(forms)}


_TEXT: Schema = {"type": "string", "minLength": 1}
_EMPTY: Schema = {"type": "null"}


def _skill(one: Schema) -> None:
    fields = one["properties"]
    specs = _or_short({}, _one("InputType"), _one("InputSpec"), _EMPTY)
    names = {"pattern": next(iter(fields["inputs"].get("patternProperties", {"": None})))}
    by_name: Schema = {"type": "object", "propertyNames": names, "additionalProperties": specs}
    fields["inputs"] = _or_short(fields["inputs"], by_name, _EMPTY)
    fields["judge"] = _or_short(fields["judge"], _TEXT, _one("Judge"), _EMPTY)


def _agent(one: Schema) -> None:
    fields = one["properties"]
    del fields["prompt"]
    text = {"type": "string", "maxLength": fields["instructions"]["maxLength"]}
    fields["instructions"] = _or_short(fields["instructions"], text, _one("PromptUse"))
    fields["judge"] = _or_short(fields["judge"], _TEXT, _one("Judge"), _EMPTY)


def _prompt(one: Schema) -> None:
    fields = one["properties"]
    specs = _or_short({}, {"type": "string"}, _one("PromptInput"), _EMPTY)
    fields["inputs"] = _or_short(fields["inputs"], {"type": "object", "additionalProperties": specs}, _EMPTY)


def _prompt_use(one: Schema) -> None:
    for name in ("version", "defaults"):
        del one["properties"][name]


def _tool_step(one: Schema) -> None:
    fields = one["properties"]
    fields["answer"] = _or_short(fields["answer"], _one("AnswerType"), _one("AnswerSpec"))
    one["dependencies"] = {"ask": ["expect"], "answer": ["ask"]}


def _prompt_step(one: Schema) -> None:
    fields = one["properties"]
    del fields["uses"]
    text = {**_TEXT, "maxLength": fields["prompt"]["maxLength"]}
    fields["prompt"] = _or_short(fields["prompt"], text, _one("PromptUse"))


def _skill_step(one: Schema) -> None:
    field = one["properties"]["on_failure"]
    field.pop("$ref")
    field["enum"] = ["fail", "continue"]


def _for_each(one: Schema) -> None:
    fields = one["properties"]
    fields["as"] = fields.pop("element")
    one["required"] = ["for_each", "as", "steps"]


def _parallel(one: Schema) -> None:
    fields = one["properties"]
    lanes = fields.pop("lanes")
    in_order = {"type": "array", "minItems": 1, "items": _one("Step")}
    each = {"anyOf": [_one("Step"), in_order]}
    kept = {"description": lanes["description"], "maxItems": lanes["maxItems"]}
    fields["parallel"] = {**kept, "type": "array", "minItems": 2, "items": each}
    one["required"] = ["parallel"]


def _recall(one: Schema) -> None:
    one["dependencies"] = {"key": ["lane"], "keys": ["lane"]}


def _event(one: Schema) -> None:
    one["dependencies"] = {"otherwise": ["deadline"]}


_AS_WRITTEN: dict[str, Callable[[Schema], None]] = {
    "Skill": _skill,
    "Agent": _agent,
    "Prompt": _prompt,
    "PromptUse": _prompt_use,
    "ToolStep": _tool_step,
    "PromptStep": _prompt_step,
    "SkillStep": _skill_step,
    "ForEach": _for_each,
    "Parallel": _parallel,
    "RecallTemplate": _recall,
    "EventTemplate": _event,
}
"""How what is written differs from the model that its reader makes of it, by the model's name."""
