"""Checks of a skill's header when it is read: its phrases, safety checks, examples and changelog. Pure."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from perdure.documents import mapping, sequence, validated
from perdure.errors import InvalidExpression, InvalidSkill
from perdure.expressions.evaluation import expressions, references
from perdure.model import Model
from perdure.skills.header import Example, SafetyCheck, SkillChange, same_phrase
from perdure.skills.inputs import filled_inputs, require_checks
from perdure.skills.shape import Skill
from perdure.suggestions import nearest

_ENTRIES: dict[str, type[SafetyCheck | Example | SkillChange]] = {
    "checks": SafetyCheck,
    "examples": Example,
    "changelog": SkillChange,
}


def header_entries(document: Mapping[str, Any]) -> dict[str, tuple[Model, ...]]:
    """Return those fields of a document's header that are lists of mappings, with each of these read.

    Raises:
        InvalidSkill: Naming the field of the one that is not well formed.
    """
    return {
        name: tuple(
            validated(model, mapping(one, f"{name}[{place}]", InvalidSkill), f"{name}[{place}]", InvalidSkill)
            for place, one in enumerate(sequence(document[name], name, InvalidSkill))
        )
        for name, model in _ENTRIES.items()
        if name in document
    }


def check_header(skill: Skill) -> None:
    """Check a skill's header.

    Raises:
        InvalidSkill: Naming the field.
        InvalidExpression: A safety check does not parse, or reads what is not an input.
    """
    if skill.successor and not skill.deprecated:
        raise InvalidSkill("successor", "belongs to a skill that is deprecated", fix="add deprecated: why it is")
    if skill.successor == skill.name:
        raise InvalidSkill("successor", "is the skill itself", fix="name another one, or leave it out")
    _check_triggers(skill)
    required = skill.requires.tools if skill.requires else ()
    for place, name in enumerate(required):
        if name in required[:place]:
            raise InvalidSkill(f"requires.tools[{place}]", f"{name!r} is there already", fix="write each once")
    _check_checks(skill)
    for place, example in enumerate(skill.examples):
        where = f"examples[{place}]"
        filled = filled_inputs(skill, example.inputs, f"{where}.inputs", InvalidSkill)
        require_checks(skill, filled, where, InvalidSkill)
    for place, (newer, older) in enumerate(pairwise(skill.changelog)):
        if older.date > newer.date:
            problem = f"{older.date} is later than {newer.date} before it"
            raise InvalidSkill(f"changelog[{place + 1}].date", problem, fix="write the newest change first")


def _check_triggers(skill: Skill) -> None:
    seen: dict[str, int] = {}
    for place, phrase in enumerate(skill.triggers):
        normal = same_phrase(phrase)
        if not normal:
            raise InvalidSkill(f"triggers[{place}]", "has no letter and no digit", fix="write what somebody says")
        if normal in seen:
            problem = f"{phrase!r} says the same as triggers[{seen[normal]}]"
            raise InvalidSkill(f"triggers[{place}]", problem, fix="write each phrase once")
        seen[normal] = place


def _check_checks(skill: Skill) -> None:
    for place, one in enumerate(skill.checks):
        field = f"checks[{place}].check"
        if not any(expressions(one.check, field)):
            raise InvalidSkill(field, "holds no expression", fix="write a condition: ${inputs.name != ''}")
        for root, *rest in references(one.check, field):
            if root != "inputs" or not rest:
                problem = "names all inputs at once" if root == "inputs" else f"there is no name {root!r}"
                raise InvalidExpression(field, problem, fix="a check reads inputs alone: inputs.name")
            if rest[0] not in skill.inputs:
                raise InvalidExpression(field, f"there is no input {rest[0]!r}", fix=nearest(rest[0], skill.inputs))
