"""Expressions that no input of the declared type gives a value: found before a task runs into one. Pure."""

from collections.abc import Iterator

from pydantic import JsonValue

from perdure.errors import InvalidExpression
from perdure.expressions.evaluation import Expression, evaluate, expressions
from perdure.registry.judge import criterion_of
from perdure.skills.shape import Skill
from perdure.skills.steps import templates_of
from perdure.skills.templates import InputType

_ONE_OF: dict[InputType, JsonValue] = {
    InputType.STRING: "a",
    InputType.INTEGER: 1,
    InputType.NUMBER: 1.5,
    InputType.BOOLEAN: True,
}
"""A value of each type whose values are all alike; of lists and mappings nobody says what is in them."""

_OF_TYPES = ("other types", "of this type")
"""What is said of values whose types are wrong; everything else may be due to the value."""


def type_doubts(skill: Skill) -> Iterator[tuple[str, str]]:
    """Yield the expressions over inputs alone that fail for their types: the field, and why.

    An expression that asks something else first (``a ? b : c``) is tried on one side.
    """
    samples = {name: _ONE_OF[spec.type] for name, spec in skill.inputs.items() if spec.type in _ONE_OF}
    for field, template in _templates(skill):
        for expression in expressions(template, field):
            if _reads_only(expression, samples):
                try:
                    evaluate(f"${{{expression.source}}}", {"inputs": samples}, field)
                except InvalidExpression as problem:
                    if any(sign in problem.problem for sign in _OF_TYPES):
                        yield field, problem.problem


def _reads_only(expression: Expression, samples: dict[str, JsonValue]) -> bool:
    paths = expression.reading.paths
    return bool(paths) and all(len(path) > 1 and path[0] == "inputs" and path[1] in samples for path in paths)


def _templates(skill: Skill) -> Iterator[tuple[str, JsonValue]]:
    for place, check in enumerate(skill.checks):
        yield f"checks[{place}].check", check.check
    for path, step, _ in skill.walk():
        for name, template in templates_of(step).items():
            yield f"{path}.{name}", template
    yield "output", skill.output
    yield "expect", skill.expect
    yield "judge", criterion_of(skill.judge)
