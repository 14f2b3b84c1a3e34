"""Reading skills: YAML into a ``Skill``, with every mistake named by its field. Knows no tool; runs nothing."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from perdure.documents import join, kind_of, mapping, nearest, read_document, sequence, validated
from perdure.errors import InvalidSkill
from perdure.expressions.evaluation import references
from perdure.expressions.syntax import RESERVED
from perdure.questions import AnswerSpec, AnswerType
from perdure.registry.folders import Folders, text_of
from perdure.registry.judge import criterion_of
from perdure.skills.checking import check_header, header_entries
from perdure.skills.header import same_phrase
from perdure.skills.shape import Skill, lane_path
from perdure.skills.steps import (
    EventStep,
    EventTemplate,
    ForEach,
    InputSpec,
    LetStep,
    MemoryTemplate,
    Parallel,
    PromptStep,
    RecallStep,
    RecallTemplate,
    RecordTemplate,
    RememberStep,
    Step,
    ToolStep,
    WaitStep,
    templates_of,
)

DEPTH = 3
"""How deep blocks may be nested."""

LARGEST_SKILL = 600_000
"""Bytes of a skill as JSON, some 3,300 steps of one line. A task carries it with 400 kB of results and a reference of
200 bytes for each further one when its history is rolled over, and Temporal takes 2 MB in one payload."""

_NAMES = frozenset({"inputs", "steps", "task", "index", "output", "answer"})
"""Names that expressions use otherwise, so that no element and no value can have them."""


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
        data["inputs"] = {name: _input(value, f"inputs.{name}") for name, value in inputs.items()}
    if "steps" in data:
        data["steps"] = _steps(data["steps"], "steps", 0)
    data |= header_entries(data)
    skill = validated(Skill, data, "", InvalidSkill)
    if (size := len(skill.model_dump_json().encode())) > LARGEST_SKILL:
        fix = f"at most {LARGEST_SKILL:,}: split it, or repeat its steps with for_each"
        raise InvalidSkill("steps", f"have {size:,} bytes as JSON", fix=fix)
    check_header(skill)
    _check_names(skill)
    _check_ids(skill)
    for path, step, _ in skill.walk():
        for name, value in templates_of(step).items():
            references(value, join(path, name))
    for name, value in (("output", skill.output), ("expect", skill.expect), ("judge", criterion_of(skill.judge))):
        references(value, name)
    return skill


class SkillLibrary(Folders[Skill]):
    """The skills in some folders."""

    def __init__(self, folders: Iterable[Path], *, packaged: Path | None = None) -> None:
        super().__init__(folders, packaged=packaged, kind="skill", read=read_skill, error=InvalidSkill)

    def get(self, name: str) -> Skill:
        """Read a skill, and check that no other one has the same trigger; see ``Folders.get``.

        Raises:
            InvalidSkill: There is none of this name, it is not well formed, or another one has a trigger of its.
            InvalidExpression: When a ``${…}`` of it does not parse.
        """
        skill = super().get(name)
        if skill.deprecated or not skill.triggers:
            return skill
        own = {same_phrase(phrase): place for place, phrase in enumerate(skill.triggers)}
        for path in self.others(name):
            for phrase in _triggers_in(path):
                if (place := own.get(same_phrase(phrase))) is not None:
                    both = f"{self.place(name)} and {path}"
                    problem = f"{skill.triggers[place]!r} is a trigger of {name!r} and of {path.stem!r} ({both})"
                    raise InvalidSkill(f"triggers[{place}]", problem, fix="give one of the two another phrase")
        return skill


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


def _input(value: object, path: str) -> InputSpec:
    # The short form is name: type.
    data = {"type": value} if isinstance(value, str) else mapping({} if value is None else value, path, InvalidSkill)
    optional = {"required": False} if "default" in data else {}
    return validated(InputSpec, {**data, **optional}, path, InvalidSkill)


def _steps(value: object, path: str, depth: int) -> tuple[Step, ...]:
    return tuple(
        _step(item, f"{path}[{index}]", depth) for index, item in enumerate(sequence(value, path, InvalidSkill))
    )


def _step(value: object, path: str, depth: int) -> Step:
    """Return a step; its key says which kind it is."""
    data = mapping(value, path, InvalidSkill)
    if "kind" in data:
        raise InvalidSkill(f"{path}.kind", "is not a field here")
    if "tool" not in data and not data.keys().isdisjoint(_ACTIONS):
        for name in data.keys() & _OF_TOOLS:
            fix = "write it in a step with tool: name"
            raise InvalidSkill(f"{path}.{name}", "belongs to a step that calls a tool", fix=fix)
    if "for_each" in data:
        return _block(data, path, depth)
    if "parallel" in data:
        return _parallel(data, path, depth)
    if (read := next((_KINDS[name] for name in _KINDS if name in data), None)) is not None:
        return read(data, path)
    unknown = next((name for name in data if name not in ToolStep.model_fields), "")
    fix = nearest(unknown, _ACTIONS) if unknown else "add tool: name"
    raise InvalidSkill(path, f"has no action ({', '.join(_ACTIONS[:-1])} or {_ACTIONS[-1]})", fix=fix)


def _tool(data: dict[str, Any], path: str) -> Step:
    return validated(ToolStep, {**data, **_remember(data, path), **_answer(data, path)}, path, InvalidSkill)


def _prompt(data: dict[str, Any], path: str) -> Step:
    return validated(PromptStep, {**data, **_remember(data, path)}, path, InvalidSkill)


def _recall(data: dict[str, Any], path: str) -> Step:
    here = f"{path}.recall"
    recall = validated(RecallTemplate, mapping(data["recall"], here, InvalidSkill), here, InvalidSkill)
    return validated(RecallStep, {**data, "recall": recall}, path, InvalidSkill)


def _remembers(data: dict[str, Any], path: str) -> Step:
    return validated(RememberStep, {**data, **_remember(data, path)}, path, InvalidSkill)


def _let(data: dict[str, Any], path: str) -> Step:
    let = mapping(data["let"], f"{path}.let", InvalidSkill)
    return validated(LetStep, {**data, "let": let}, path, InvalidSkill)


def _wait(data: dict[str, Any], path: str) -> Step:
    """Read a wait: for a time or until a moment, or, where it is a mapping, for an event."""
    if kind_of(data["wait"]) != "a mapping":
        return validated(WaitStep, data, path, InvalidSkill)
    here = f"{path}.wait"
    written = mapping(data["wait"], here, InvalidSkill)
    if "otherwise" in written:
        if written["otherwise"] is None:
            raise InvalidSkill(f"{here}.otherwise", "is empty", fix='write "${null}", or leave it out')
        if written.get("deadline") is None:
            raise InvalidSkill(f"{here}.otherwise", "belongs to a deadline", fix="add deadline: 2d, say")
    wait = validated(EventTemplate, written, here, InvalidSkill)
    return validated(EventStep, {**data, "wait": wait}, path, InvalidSkill)


_KINDS = {"tool": _tool, "prompt": _prompt, "recall": _recall, "wait": _wait, "remember": _remembers, "let": _let}
"""How a step without nested steps is read, by the key that says what it does. ``remember`` comes after the actions: a
step may remember in addition to its action, or is refused because it cannot."""

_ACTIONS = (*_KINDS, "for_each", "parallel")
"""The keys of which a step has exactly one, which says what it does."""

_OF_TOOLS = frozenset({"retry", "timeout"})
"""What only a call of a tool has."""


def _block(data: dict[str, Any], path: str, depth: int) -> ForEach:
    _check_depth(path, depth)
    if "as" not in data:
        raise InvalidSkill(f"{path}.as", "is missing", fix="name the element")
    rest = {name: value for name, value in data.items() if name != "as"}
    if "element" in rest:
        raise InvalidSkill(f"{path}.element", "is not a field here", fix="did you mean 'as'?")
    element = data["as"]
    _check_name(element, f"{path}.as")
    inner = {"steps": _steps(data["steps"], f"{path}.steps", depth + 1)} if "steps" in data else {}
    return validated(ForEach, {"id": element, **rest, **inner, "element": element}, path, InvalidSkill)


def _parallel(data: dict[str, Any], path: str, depth: int) -> Parallel:
    """Read steps side by side: each entry is a step, or a list of steps in their order."""
    _check_depth(path, depth)
    if "lanes" in data:
        raise InvalidSkill(f"{path}.lanes", "is not a field here", fix="did you mean 'parallel'?")
    rest, lanes = {name: value for name, value in data.items() if name != "parallel"}, list[tuple[Step, ...]]()
    for number, entry in enumerate(sequence(data["parallel"], f"{path}.parallel", InvalidSkill)):
        lanes.append(_lane(entry, lane_path(path, number), depth + 1))
    if len(lanes) < 2:
        raise InvalidSkill(f"{path}.parallel", "has nothing to run side by side", fix="list two steps or more")
    return validated(Parallel, {**rest, "lanes": tuple(lanes)}, path, InvalidSkill)


def _lane(entry: object, path: str, depth: int) -> tuple[Step, ...]:
    """Return what runs in parallel with others: a single step, or a list of steps."""
    return (_step(entry, path, depth),) if kind_of(entry) == "a mapping" else _steps(entry, path, depth)


def _check_depth(path: str, depth: int) -> None:
    if depth >= DEPTH:
        raise InvalidSkill(path, f"blocks are nested deeper than {DEPTH}", fix="make its list in a tool")


def _answer(data: dict[str, Any], path: str) -> dict[str, Any]:
    """Read which answers a step takes: ``answer: integer``, or a mapping with the type and its choices."""
    if "answer" not in data:
        return {}
    here = f"{path}.answer"
    if "ask" not in data:
        raise InvalidSkill(here, "belongs to a question", fix="add ask: a question, and expect: when it is not put")
    value: object = data["answer"]
    written = {"type": value} if isinstance(value, str) else mapping(value, here, InvalidSkill)
    found = validated(AnswerSpec, written, here, InvalidSkill)
    is_choice = found.type is AnswerType.CHOICE
    if is_choice != bool(found.choices):
        problem, fix = ("has no choices", "list them") if is_choice else ("has choices", "write type: choice")
        raise InvalidSkill(here, problem, fix=fix)
    if any(one != one.strip() or found.choices.count(one) > 1 for one in found.choices):
        raise InvalidSkill(f"{here}.choices", "has a duplicate, or one with a space around it", fix="write each once")
    return {"answer": found}


def _remember(data: dict[str, Any], path: str) -> dict[str, Any]:
    if "remember" not in data:
        return {}
    here = f"{path}.remember"
    entries = sequence(data["remember"], here, InvalidSkill)
    return {"remember": tuple(_entry(item, f"{here}[{index}]") for index, item in enumerate(entries))}


def _entry(value: object, path: str) -> RecordTemplate | MemoryTemplate:
    data = mapping(value, path, InvalidSkill)
    model = MemoryTemplate if "memory" in data else RecordTemplate
    return validated(model, data, path, InvalidSkill)


def _check_ids(skill: Skill) -> None:
    seen: dict[str, str] = {}
    for path, step, around in skill.walk():
        if step.id in seen:
            raise InvalidSkill(f"{path}.id", f"{step.id!r} is taken by {seen[step.id]}", fix="give it another id")
        seen[step.id] = path
        if isinstance(step, ForEach) and step.element in {block.element for block in around}:
            raise InvalidSkill(f"{path}.as", f"{step.element!r} is taken by the block around it")


def _check_names(skill: Skill) -> None:
    """Refuse a name that is given twice: a reader would have to know which of the two is nearer."""
    taken = {step.element: f"the element of {path}" for path, step, _ in skill.walk() if isinstance(step, ForEach)}
    lets = [(path, name) for path, step, _ in skill.walk() if isinstance(step, LetStep) for name in step.let]
    for path, name in lets:
        field = f"{path}.let.{name}"
        _check_name(name, field)
        if name in taken:
            raise InvalidSkill(field, f"{name!r} is taken by {taken[name]}", fix="choose another name")
        taken[name] = field


def _check_name(name: object, field: str) -> None:
    """Refuse a name that means something in an expression."""
    if name in RESERVED or name in _NAMES:
        raise InvalidSkill(field, f"{name!r} is taken by the expressions", fix="choose another name")
