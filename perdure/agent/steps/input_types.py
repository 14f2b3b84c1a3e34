"""Expressions that fail for the types of their inputs, or give no list or truth value, before any task runs. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise, product
from typing import Any, cast

from pydantic import JsonValue

from perdure.documents import kind_of
from perdure.errors import InvalidExpression, InvalidInput
from perdure.expressions.evaluation import Expression, evaluate, expressions
from perdure.registry.judge import criterion_of
from perdure.skills.shape import Skill
from perdure.skills.steps import ToolStep, templates_of
from perdure.skills.templates import InputType
from perdure.toolbox import Toolbox
from perdure.tools import Tool

_TEXTS = ("", "a", "b c/d,e", "7", "2026-03-02T10:30:05Z", "name@example.org: a-b_c, 1.5; the rest of a longer text")

_WHOLE: Mapping[InputType, Sequence[JsonValue]] = {
    InputType.STRING: _TEXTS,
    InputType.INTEGER: (0, 1, 2, 7, -3, 100),
    InputType.NUMBER: (0, 1, 2, 7, -3, 100),
    InputType.BOOLEAN: (True, False),
}
"""Values of each type whose values are all alike; of lists and mappings nobody says what is in them."""

_GIVES: Mapping[str, tuple[type, str]] = {
    "for_each": (list, "a list"),
    "when": (bool, "true or false"),
    "check": (bool, "true or false"),
    "expect": (bool, "true or false"),
}
"""What some fields have to give, and how that is called."""

_TAKEN: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "a boolean"),
    "array": (list, "a list"),
    "object": (dict, "a mapping"),
}
"""The types of JSON Schema, and how they are called."""

_ANYTHING: tuple[JsonValue, ...] = ("a", "true", 1, 0.5, True, [], [True], {}, None)
"""What a tool may return: a value of each kind."""

_GUESSED = 3
"""Of how many values of unknown types each combination is tried, which takes 729 evaluations."""

_KINDS = {"": _WHOLE, " for a fraction": {**_WHOLE, InputType.NUMBER: (0.5, 1.5, 2.25, -3.5)}}
"""A number may be whole or not, and expressions do not mix the two."""


def type_doubts(skill: Skill) -> Iterator[tuple[str, str]]:
    """Yield what fails for the types of inputs, and what gives no list or no truth value.

    What fails are expressions over inputs alone, or over nothing. Each is a field, and why.

    One is doubted that fails so for each of some values: what depends on the value is left alone.
    """
    types = _typed(skill)
    for field, template in _templates(skill):
        if misfit := _misfit(template, field, types):
            yield field, misfit
        for expression in expressions(template, field):
            if _are_typed(expression, types):
                found = ((_doubt(expression, field, types, values), for_what) for for_what, values in _KINDS.items())
                if doubt := next((f"{problem}{for_what}" for problem, for_what in found if problem), ""):
                    yield field, f"{doubt} ({_declared(expression, types)})"


def argument_doubts(skill: Skill, toolbox: Toolbox) -> Iterator[tuple[str, str]]:
    """Yield the arguments that get no value of the type that their tool takes: each as a field, and why.

    Args:
        skill: A skill that has been checked with these tools.
        toolbox: The tools.
    """
    types = _typed(skill)
    for field, tool, name, template in _arguments(skill):
        called, read = toolbox.get(tool), list(expressions(template, field))
        if not read or any("?" in one.source or not _reads_only(one, types) for one in read):
            # What depends on a condition depends on the value.
            continue
        values = [*_values(template, field, types)]
        taken = _taken(called.schema, name)
        if taken and values and not any(_fits(one, taken) or _takes(called, name, one) for one in values):
            declared = ", ".join(dict.fromkeys(_declared(one, types) for one in read))
            kinds = " or ".join(dict.fromkeys(map(kind_of, values)))
            told = f"is {kinds} for each value that was tried, and {tool!r} takes {_TAKEN[taken][1]}"
            yield field, f"{told} ({declared})"


def _typed(skill: Skill) -> dict[str, InputType]:
    """Return the types of the inputs whose values are all alike, by name."""
    return {name: spec.type for name, spec in skill.inputs.items() if spec.type in _WHOLE}


def _arguments(skill: Skill) -> Iterator[tuple[str, str, str, JsonValue]]:
    """Yield the field of each argument that is given to a tool, the tool's name, and the argument's with its value."""
    for path, step, _ in skill.walk():
        if isinstance(step, ToolStep):
            for at, call in ((path, step), (f"{path}.compensate", step.compensate)):
                if call is not None:
                    yield from ((f"{at}.args.{name}", call.tool, name, value) for name, value in call.args.items())


def _taken(schema: Mapping[str, Any], name: str) -> str:
    """Return the JSON Schema type of a tool's argument; empty: it may be of several, or nobody says so."""
    # A server of MCP's may say anything.
    taken: Any = schema
    for key in ("properties", name, "type"):
        taken = cast("dict[str, Any]", taken).get(key) if isinstance(taken, dict) else None
    return taken if isinstance(taken, str) and taken in _TAKEN else ""


def _takes(tool: Tool[..., Any], name: str, value: JsonValue) -> bool:
    """Return whether a tool takes a value: a validator of its own may take more than the type says."""
    try:
        tool.validate({name: value}, partial=True)
    except InvalidInput:
        return False
    return True


def _fits(value: JsonValue, taken: str) -> bool:
    # In Python, a truth value is a number.
    return isinstance(value, _TAKEN[taken][0]) and (isinstance(value, bool) is (taken == "boolean"))


def _values(template: JsonValue, field: str, types: Mapping[str, InputType]) -> Iterator[JsonValue]:
    """Yield what a template gives for some inputs, as far as it gives something."""
    for names in _examples(types, _WHOLE):
        with suppress(InvalidExpression):
            yield evaluate(template, names, field)


def _doubt(
    expression: Expression, field: str, types: Mapping[str, InputType], values: Mapping[InputType, Sequence[JsonValue]]
) -> str:
    """Return why an expression fails for the types of its inputs; empty: for one of the values it does not."""
    said = ""
    for names in _examples(types, values):
        try:
            evaluate(f"${{{expression.source}}}", names, field)
        except InvalidExpression as problem:
            # Everything else may be due to the value, where there is one.
            if problem.of_types or not expression.reading.paths:
                said = problem.problem
                continue
        return ""
    return said


def _misfit(template: JsonValue, field: str, types: Mapping[str, InputType]) -> str:
    """Return what a field gives for each of some inputs, where that is never what it has to be; otherwise empty."""
    wanted, told = _GIVES.get(field.rpartition(".")[2], (object, ""))
    if not (told and template):
        return ""
    read, said = list(expressions(template, field)), ""
    is_typed = all(_are_typed(one, types) for one in read)
    for names in _examples(types, _WHOLE) if is_typed else _guesses(read):
        try:
            value = evaluate(template, names, field)
        except InvalidExpression:
            if is_typed:
                return ""
            continue
        if isinstance(value, wanted):
            return ""
        said = f"is {kind_of(value)} for each value that was tried, not {told}"
    return said


def _examples(
    types: Mapping[str, InputType], values: Mapping[InputType, Sequence[JsonValue]]
) -> Iterator[dict[str, JsonValue]]:
    """Yield names with some inputs of these types."""
    for turn in range(len(_TEXTS)):
        yield {"inputs": {name: values[kind][turn % len(values[kind])] for name, kind in types.items()}}


def _guesses(read: Sequence[Expression]) -> Iterator[dict[str, JsonValue]]:
    """Yield names with a value of each kind for all that expressions read; of much, or of parts of a whole, none."""
    paths = sorted({path for one in read for path in one.reading.paths})
    if len(paths) > _GUESSED or any(longer[: len(path)] == path for path, longer in pairwise(paths)):
        return
    for values in product(_ANYTHING, repeat=len(paths)):
        names: dict[str, JsonValue] = {}
        for path, value in zip(paths, values, strict=True):
            inner = names
            for name in path[:-1]:
                inner = cast("dict[str, JsonValue]", inner.setdefault(name, {}))
            inner[path[-1]] = value
        yield names


def _declared(expression: Expression, types: Mapping[str, InputType]) -> str:
    """Return what the inputs are declared as that an expression reads; of one that reads none, that it does not."""
    names = sorted({path[1] for path in expression.reading.paths})
    return ", ".join(f"inputs.{name}: {types[name]}" for name in names) or "it reads no input"


def _reads_only(expression: Expression, types: Mapping[str, InputType]) -> bool:
    return bool(expression.reading.paths) and _are_typed(expression, types)


def _are_typed(expression: Expression, types: Mapping[str, InputType]) -> bool:
    paths = expression.reading.paths
    return all(len(path) > 1 and path[0] == "inputs" and path[1] in types for path in paths)


def _templates(skill: Skill) -> Iterator[tuple[str, JsonValue]]:
    for place, check in enumerate(skill.checks):
        yield f"checks[{place}].check", check.check
    for path, step, _ in skill.walk():
        for name, template in templates_of(step).items():
            yield f"{path}.{name}", template
    yield "output", skill.output
    yield "expect", skill.expect
    yield "judge", criterion_of(skill.judge)
