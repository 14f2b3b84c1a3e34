"""A skill's requirements on its inputs: types, defaults, and safety checks. Pure."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from perdure.documents import kind_of
from perdure.errors import InvalidInput, InvalidTask
from perdure.expressions.evaluation import holds
from perdure.model import Passed
from perdure.skills.header import SafetyCheck
from perdure.skills.shape import Skill
from perdure.skills.templates import InputSpec, InputType
from perdure.suggestions import nearest

_json: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_TYPES: dict[InputType, TypeAdapter[Any]] = {
    InputType.STRING: TypeAdapter(str),
    InputType.INTEGER: TypeAdapter(int),
    InputType.NUMBER: TypeAdapter(float),
    InputType.BOOLEAN: TypeAdapter(bool),
    InputType.LIST: TypeAdapter(list[JsonValue]),
    InputType.OBJECT: TypeAdapter(dict[str, JsonValue]),
    InputType.ANY: _json,
}
_WANTED: dict[InputType, str] = {
    InputType.STRING: "text",
    InputType.INTEGER: "a whole number",
    InputType.NUMBER: "a number",
    InputType.BOOLEAN: "true or false",
    InputType.LIST: "a list",
    InputType.OBJECT: "a mapping",
}


class Accepting(Passed):
    """What a skill says of its inputs."""

    name: str
    inputs: dict[str, InputSpec]
    checks: tuple[SafetyCheck, ...] = ()

    @classmethod
    def of(cls, skill: Skill) -> "Accepting":
        """Return what a skill says of its inputs."""
        return cls(name=skill.name, inputs=skill.inputs, checks=skill.checks)


def filled_inputs(
    skill: Skill | Accepting,
    given: Mapping[str, JsonValue],
    field: str = "inputs",
    error: type[InvalidInput] = InvalidTask,
) -> dict[str, JsonValue]:
    """Check inputs against what a skill declares, and fill in defaults.

    Args:
        skill: The skill.
        given: The inputs.
        field: Where they are written, for the error.
        error: What to raise.

    Raises:
        InvalidInput: Naming the input; of the class ``error``.
    """
    for name in given:
        if name not in skill.inputs:
            problem = f"skill {skill.name!r} has no such input"
            raise error(f"{field}.{name}", problem, fix=nearest(name, skill.inputs))
    return {name: _input(spec, name, given, f"{field}.{name}", error) for name, spec in skill.inputs.items()}


def _input(
    spec: InputSpec, name: str, given: Mapping[str, JsonValue], field: str, error: type[InvalidInput]
) -> JsonValue:
    if name not in given:
        if spec.required and spec.default is None:
            fix = f"{spec.description or f'give {wanted(spec.type)}'}, or write required: false in the skill"
            raise error(field, "is missing", fix=fix)
        return spec.default
    if not is_of(spec.type, given[name]):
        raise error(field, f"is {kind_of(given[name])}", fix=f"give {wanted(spec.type)}")
    return given[name]


def require_checks(
    skill: Skill | Accepting,
    inputs: Mapping[str, JsonValue],
    where: str = "",
    error: type[InvalidInput] = InvalidTask,
) -> None:
    """Evaluate a skill's safety checks.

    Args:
        skill: The skill.
        inputs: Its inputs, with defaults.
        where: Whose inputs they are, for the error; empty: a task's.
        error: What to raise.

    Raises:
        InvalidInput: One does not hold: naming it, with what it says; of the class ``error``.
        InvalidExpression: One has no value, or another than true or false.
    """
    for place, one in enumerate(skill.checks):
        field = f"checks[{place}]"
        if not holds(one.check, {"inputs": dict(inputs)}, f"{field}.check"):
            refused = f"skill {skill.name!r} refuses these inputs: {one.otherwise}"
            at = f"{where}: {field}" if where else field
            raise error(at, refused, fix=f"it has to hold that {one.check}")


def is_of(kind: InputType, value: JsonValue) -> bool:
    """Return whether a value is of a type."""
    try:
        _TYPES.get(kind, _json).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def wanted(kind: InputType) -> str:
    """Return what to give for a type, in a few words."""
    return _WANTED.get(kind, f"a value of type {kind}")
