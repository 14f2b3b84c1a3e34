"""Reading skills: YAML into a ``Skill``, with every mistake named by its field. Knows no tool; runs nothing."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from perdure.documents import join, mapping, validated
from perdure.errors import InvalidInput, InvalidSkill
from perdure.expressions.evaluation import expressions, references
from perdure.modules import require_model_form
from perdure.registry.folders import Folders, text_of
from perdure.registry.judge import criterion_of
from perdure.registry.prompts import PromptLibrary
from perdure.skills.header import same_phrase
from perdure.skills.header_checks import check_header, header_entries
from perdure.skills.linked_skills import LARGEST_SKILL, LinkedSkill, linked
from perdure.skills.prompt_texts import with_prompts
from perdure.skills.shape import Skill
from perdure.skills.step_reader import check_name, read_input, read_steps
from perdure.skills.steps import (
    COMPENSATE,
    ForEach,
    LetStep,
    PromptStep,
    Step,
    templates_of,
)
from perdure.yaml_text import read_document


def read_skill(text: str, where: str = "skill") -> Skill:
    """Read a skill from YAML.

    Args:
        text: The document.
        where: What it is, for messages about the document as a whole.

    Raises:
        InvalidSkill: Naming the field, and the nearest name where one is unknown.
        InvalidExpression: When a ``${…}`` does not parse.
    """
    return skill_of(read_document(text, where, InvalidSkill))


def skill_of(document: dict[str, Any]) -> Skill:
    """Return the skill that a document describes; see ``read_skill``."""
    data = dict(document)
    if "inputs" in data:
        inputs = mapping(data["inputs"] or {}, "inputs", InvalidSkill)
        data["inputs"] = {name: read_input(value, f"inputs.{name}") for name, value in inputs.items()}
    if "steps" in data:
        data["steps"] = read_steps(data["steps"], "steps", 0)
    data |= header_entries(data)
    skill = validated(Skill, data, "", InvalidSkill)
    _require_small(skill)
    check_header(skill)
    _check_names(skill)
    _check_ids(skill)
    for path, step, _ in skill.walk():
        for name, value in templates_of(step).items():
            references(value, join(path, name))
        _require_conditions(step, path)
        if isinstance(step, PromptStep):
            require_model_form(step.model, join(path, "model"), InvalidSkill)
    if skill.judge:
        require_model_form(skill.judge.model, "judge.model", InvalidSkill)
    for name, value in (("output", skill.output), ("expect", skill.expect), ("judge", criterion_of(skill.judge))):
        references(value, name)
    _require_condition(skill.expect, "expect")
    return skill


def _require_conditions(step: Step, path: str) -> None:
    """Refuse a condition, or a list to walk, that is plain text: it would be refused in the middle of a task."""
    written = [(join(path, name), getattr(step, name, None)) for name in ("when", "expect", "for_each")]
    remembered = getattr(step, "remember", ())
    written += [(join(path, "remember", place, "when"), one.when) for place, one in enumerate(remembered)]
    for field, text in written:
        _require_condition(text, field)


def _require_condition(text: str | None, field: str) -> None:
    if text is not None and not any(expressions(text, field)):
        raise InvalidSkill(field, "holds no expression", fix=f'write it in ${{…}}: "${{{text}}}"')


def _require_small(skill: Skill) -> None:
    if (size := len(skill.model_dump_json().encode())) > LARGEST_SKILL:
        fix = f"at most {LARGEST_SKILL:,}: split it, or repeat its steps with for_each"
        raise InvalidSkill("steps", f"have {size:,} bytes as JSON", fix=fix)


class SkillLibrary(Folders[Skill]):
    """The skills in some folders."""

    def __init__(self, folders: Iterable[Path], *, prompts: PromptLibrary | None = None) -> None:
        super().__init__(folders, kind="skill", read=read_skill, error=InvalidSkill)
        self._prompts = prompts or PromptLibrary()

    def linked(self, name: str) -> LinkedSkill:
        """Read a skill, and those that its steps run; see ``linked``.

        Raises:
            InvalidSkill: One cannot be used, or runs itself.
            InvalidExpression: When a ``${…}`` of one does not parse.
        """
        try:
            found = linked(self.get(name), self.get)
        except InvalidInput as error:
            if error.place:
                raise
            # Of a skill that another one runs, the field begins with its name.
            inner, _, field = error.field.rpartition(": ")
            with self.placing(inner or name):
                raise type(error)(field, error.problem, fix=error.fix) from None
        places = {skill.name: self.place(skill.name) for skill in found.every}
        return replace(found, sources={one: (path, text_of(path, InvalidSkill)) for one, path in places.items()})

    def get(self, name: str) -> Skill:
        """Read a skill with its prompts, and check that no other one has the same trigger; see ``Folders.get``.

        Raises:
            InvalidSkill: There is none of this name, it or a prompt is not well formed, or another one has a trigger
                of its.
            InvalidExpression: When a ``${…}`` of it does not parse.
        """
        skill = super().get(name)
        with self.placing(name):
            skill = with_prompts(skill, self._prompts)
            _require_small(skill)
            self._require_own_triggers(skill)
        return skill

    def _require_own_triggers(self, skill: Skill) -> None:
        if skill.deprecated or not skill.triggers:
            return
        name = skill.name
        own = {same_phrase(phrase): place for place, phrase in enumerate(skill.triggers)}
        for path in self.others(name):
            for phrase in _triggers_in(path):
                if (place := own.get(same_phrase(phrase))) is not None:
                    both = f"{self.place(name)} and {path}"
                    problem = f"{skill.triggers[place]!r} is a trigger of {name!r} and of {path.stem!r} ({both})"
                    raise InvalidSkill(f"triggers[{place}]", problem, fix="give one of the two another phrase")


def _triggers_in(path: Path) -> tuple[str, ...]:
    """Return the triggers of a file's skill; one that cannot be used has none, as its own tasks report the problem."""
    try:
        name, triggers = _triggers_of(text_of(path, InvalidSkill))
    except InvalidSkill:
        return ()
    return triggers if name == path.stem else ()


@lru_cache(maxsize=4_096)
def _triggers_of(text: str) -> tuple[object, tuple[str, ...]]:
    # Kept by the text itself: parsing 3 kB takes 10 ms (measured), and each task that begins looks at all files.
    if "triggers" not in text:
        return None, ()
    document = read_document(text, "skill", InvalidSkill)
    found: object = document.get("triggers")
    # A deprecated skill is no longer chosen, and its successor takes over its phrases.
    if document.get("deprecated") or not isinstance(found, list):
        return None, ()
    return document.get("name"), tuple(one for one in cast("list[object]", found) if isinstance(one, str))


def _check_ids(skill: Skill) -> None:
    seen: dict[str, str] = {}
    for path, step, around in skill.walk():
        if step.id in seen:
            raise InvalidSkill(f"{path}.id", f"{step.id!r} is taken by {seen[step.id]}", fix="give it another id")
        seen[step.id] = path
        if step.id == COMPENSATE:
            raise InvalidSkill(
                f"{path}.id", f"{step.id!r} is what the paths of compensations end with", fix="rename it"
            )
        if isinstance(step, ForEach) and step.element in {block.element for block in around}:
            raise InvalidSkill(f"{path}.as", f"{step.element!r} is taken by the block around it")


def _check_names(skill: Skill) -> None:
    """Refuse a name that is given twice: a reader would have to know which of the two is nearer."""
    taken = {step.element: f"the element of {path}" for path, step, _ in skill.walk() if isinstance(step, ForEach)}
    lets = [(path, name) for path, step, _ in skill.walk() if isinstance(step, LetStep) for name in step.let]
    for path, name in lets:
        field = f"{path}.let.{name}"
        check_name(name, field)
        if name in taken:
            raise InvalidSkill(field, f"{name!r} is taken by {taken[name]}", fix="choose another name")
        taken[name] = field
