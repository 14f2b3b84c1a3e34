"""Expressions that fail for the declared types of their inputs: found before a task runs into one. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from perdure.errors import InvalidExpression
from perdure.expressions.evaluation import Expression, evaluate, expressions
from perdure.registry.judge import criterion_of
from perdure.skills.shape import Skill
from perdure.skills.steps import templates_of
from perdure.skills.templates import InputType

_TEXTS = ("", "a", "b c/d,e", "7", "2026-03-02T10:30:05Z", "name@example.org: a-b_c, 1.5; the rest of a longer text")

_WHOLE: Mapping[InputType, Sequence[JsonValue]] = {
    InputType.STRING: _TEXTS,
    InputType.INTEGER: (0, 1, 2, 7, -3, 100),
    InputType.NUMBER: (0, 1, 2, 7, -3, 100),
    InputType.BOOLEAN: (True, False),
}
"""Values of each type whose values are all alike; of lists and mappings nobody says what is in them."""

_KINDS = {"": _WHOLE, " for a fraction": {**_WHOLE, InputType.NUMBER: (0.5, 1.5, 2.25, -3.5)}}
"""A number may be whole or not, and expressions do not mix the two."""

_FAILED = "cannot be evaluated: "
_OF_TYPES = ("other types", "of this type")
"""What is said of values whose types are wrong; everything else may be due to the value."""


def type_doubts(skill: Skill) -> Iterator[tuple[str, str]]:
    """Yield the expressions over inputs alone that fail for their types: the field, and why.

    One is doubted that fails so for each of some values: what depends on the value is left alone.
    """
    types = {name: spec.type for name, spec in skill.inputs.items() if spec.type in _WHOLE}
    for field, template in _templates(skill):
        for expression in expressions(template, field):
            if _reads_only(expression, types):
                found = ((_doubt(expression, field, types, values), for_what) for for_what, values in _KINDS.items())
                if doubt := next((f"{problem}{for_what}" for problem, for_what in found if problem), ""):
                    yield field, doubt


def _doubt(
    expression: Expression, field: str, types: Mapping[str, InputType], values: Mapping[InputType, Sequence[JsonValue]]
) -> str:
    """Return why an expression fails for the types of its inputs; empty: for one of the values it does not."""
    said = ""
    for turn in range(len(_TEXTS)):
        inputs = {name: values[kind][turn % len(values[kind])] for name, kind in types.items()}
        try:
            evaluate(f"${{{expression.source}}}", {"inputs": inputs}, field)
        except InvalidExpression as problem:
            # The expression is quoted before that.
            if any(sign in problem.problem.rpartition(_FAILED)[2] for sign in _OF_TYPES):
                said = problem.problem
                continue
        return ""
    return said


def _reads_only(expression: Expression, types: Mapping[str, InputType]) -> bool:
    paths = expression.reading.paths
    return bool(paths) and all(len(path) > 1 and path[0] == "inputs" and path[1] in types for path in paths)


def _templates(skill: Skill) -> Iterator[tuple[str, JsonValue]]:
    for place, check in enumerate(skill.checks):
        yield f"checks[{place}].check", check.check
    for path, step, _ in skill.walk():
        for name, template in templates_of(step).items():
            yield f"{path}.{name}", template
    yield "output", skill.output
    yield "expect", skill.expect
    yield "judge", criterion_of(skill.judge)
