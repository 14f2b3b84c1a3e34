"""Reading the inputs and steps of a skill: mappings into values, with every mistake named by its field. Pure."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from perdure.documents import kind_of, mapping, sequence, validated
from perdure.errors import InvalidSkill
from perdure.expressions.syntax import RESERVED_WORDS
from perdure.model import Instant
from perdure.registry.prompts import read_use
from perdure.skills.foreign import ActivityStep, WorkflowStep
from perdure.skills.shape import lane_path
from perdure.skills.steps import (
    EventStep,
    ForEach,
    LetStep,
    Parallel,
    PromptStep,
    RecallStep,
    RememberStep,
    SkillStep,
    Step,
    ToolStep,
    WaitStep,
)
from perdure.skills.templates import (
    CompensateTemplate,
    EventTemplate,
    InputSpec,
    MemoryTemplate,
    OnFailure,
    RecallTemplate,
    RecordTemplate,
)
from perdure.suggestions import nearest
from perdure.tools import Effect
from perdure.values.questions import AnswerSpec, AnswerType
from perdure.values.strategies import Strategy

DEPTH = 3
"""How deep blocks may be nested."""

_NAMES = frozenset({"inputs", "steps", "task", "index", "output", "answer"})
"""Names that expressions use otherwise, so that no element and no value can have them."""


def read_input(value: object, path: str) -> InputSpec:
    """Return what a skill says of an input; raises InvalidSkill."""
    # The short form is name: type.
    data = {"type": value} if isinstance(value, str) else mapping({} if value is None else value, path, InvalidSkill)
    if data.get("required") is True and data.get("default") is not None:
        raise InvalidSkill(f"{path}.required", "has no effect beside a default", fix="leave out one of the two")
    optional = {"required": False} if "default" in data else {}
    return validated(InputSpec, {**data, **optional}, path, InvalidSkill)


def read_steps(value: object, path: str, depth: int) -> tuple[Step, ...]:
    """Return a list of steps that stands in so many blocks; raises InvalidSkill."""
    return tuple(
        _step(item, f"{path}[{index}]", depth) for index, item in enumerate(sequence(value, path, InvalidSkill))
    )


def _step(value: object, path: str, depth: int) -> Step:
    """Return a step; its key says which kind it is."""
    data = mapping(value, path, InvalidSkill)
    if "kind" in data:
        raise InvalidSkill(f"{path}.kind", "is not a field here")
    _require_one_action(data, path)
    if (action := next((name for name in _ACTIONS if name in data), "")) in _WHY_NOT:
        for name in sorted(data.keys() & (_CALLING - _HAS.get(action, frozenset()))):
            problem, fix = _WHY_NOT[action]
            raise InvalidSkill(f"{path}.{name}", problem, fix=fix)
    if "for_each" in data:
        return _block(data, path, depth)
    if "parallel" in data:
        return _parallel(data, path, depth)
    if (read := next((_KINDS[name] for name in _KINDS if name in data), None)) is not None:
        step = read(data, path)
        _refuse_idle(data, path)
        return step
    unknown = next((name for name in data if name not in ToolStep.model_fields), "")
    fix = nearest(unknown, _ACTIONS) if unknown else "add tool: name"
    raise InvalidSkill(path, f"has no action ({', '.join(_ACTIONS[:-1])} or {_ACTIONS[-1]})", fix=fix)


def _require_one_action(data: dict[str, Any], path: str) -> None:
    # What a step remembers comes with its action.
    first, *others = [name for name in data if name in _ACTIONS and name != "remember"] or [""]
    if others:
        fix = f"write two steps, or leave out {first} or {others[0]}"
        problem = f"is a second action beside {first}, and a step has exactly one"
        raise InvalidSkill(f"{path}.{others[0]}", problem, fix=fix)


def _refuse_idle(data: dict[str, Any], path: str) -> None:
    """Refuse what has no effect beside what a step has, or lacks: whoever wrote it expects one."""
    if "ask" in data and "expect" not in data:
        fix = "add expect: what must hold of output; or write approve: a question before the step acts"
        raise InvalidSkill(f"{path}.ask", "is never asked without expect", fix=fix)
    if data.get("critical") is True and not data.get("remember"):
        fix = "add remember, or leave it out"
        raise InvalidSkill(f"{path}.critical", "has no effect on a step that remembers nothing", fix=fix)


def _tool(data: dict[str, Any], path: str) -> Step:
    more = {**_remember(data, path), **_answer(data, path), **_undoing(data, path)}
    return validated(ToolStep, {**data, **more}, path, InvalidSkill)


def _prompt(data: dict[str, Any], path: str) -> Step:
    if "uses" in data:
        raise InvalidSkill(f"{path}.uses", "is not a field here", fix="did you mean 'prompt'?")
    more = _remember(data, path)
    if kind_of(data["prompt"]) == "a mapping":
        more |= {"prompt": "", "uses": read_use(data["prompt"], f"{path}.prompt", InvalidSkill)}
    elif not data["prompt"]:
        raise InvalidSkill(f"{path}.prompt", "is empty", fix="write what a model is asked, or {name: a prompt's}")
    return validated(PromptStep, {**data, **more}, path, InvalidSkill)


def _recall(data: dict[str, Any], path: str) -> Step:
    here = f"{path}.recall"
    written = mapping(data["recall"], here, InvalidSkill)
    recall = validated(RecallTemplate, written, here, InvalidSkill)
    if "enough" in written and not (recall.keys or recall.key):
        fix = "add keys, or leave it out"
        raise InvalidSkill(f"{here}.enough", "has no effect without keys: it counts what they find", fix=fix)
    # Only of what a person writes: what a task has carried along must be read as long as the task is open.
    if not recall.text.strip() and recall.lane is None and recall.strategy is not Strategy.STRUCTURED:
        fix = "give a text or a lane; strategy: structured finds everything that the filters let through"
        raise InvalidSkill(here, "searches for nothing", fix=fix)
    for name in ("since", "until"):
        _require_moment(getattr(recall, name), f"{here}.{name}")
    return validated(RecallStep, {**data, "recall": recall}, path, InvalidSkill)


def _require_moment(text: str | None, path: str) -> None:
    if text is None or "${" in text:
        return
    try:
        _MOMENT.validate_python(text)
    except ValidationError:
        fix = "write 2026-05-01T00:00:00Z, say, or an expression that gives one"
        raise InvalidSkill(path, f"{text!r} is not a moment with its time zone", fix=fix) from None


_MOMENT = TypeAdapter(Instant)


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


def _activity(data: dict[str, Any], path: str) -> Step:
    step = validated(ActivityStep, {**data, **_remember(data, path), **_undoing(data, path)}, path, InvalidSkill)
    if step.compensate is not None and step.effect is Effect.READ:
        problem = f"activity {step.activity!r} only reads: there is nothing to undo"
        raise InvalidSkill(f"{path}.compensate", problem, fix="leave it out")
    return step


def _workflow(data: dict[str, Any], path: str) -> Step:
    return validated(WorkflowStep, {**data, **_remember(data, path), **_undoing(data, path)}, path, InvalidSkill)


def _skill(data: dict[str, Any], path: str) -> Step:
    if data.get("on_failure") == OnFailure.ASK:
        problem = "cannot be ask in a step that runs a skill"
        raise InvalidSkill(f"{path}.on_failure", problem, fix="write it in the steps of that skill")
    return validated(SkillStep, {**data, **_remember(data, path)}, path, InvalidSkill)


_KINDS = {
    "tool": _tool,
    "prompt": _prompt,
    "recall": _recall,
    "wait": _wait,
    "skill": _skill,
    "activity": _activity,
    "workflow": _workflow,
    "remember": _remembers,
    "let": _let,
}
"""How a step without nested steps is read, by the key that says what it does. ``remember`` comes after the actions: a
step may remember in addition to its action, or is refused because it cannot."""

_ACTIONS = (*_KINDS, "for_each", "parallel")
"""The keys of which a step has exactly one, which says what it does."""

_CALLING = frozenset({"retry", "timeout", "compensate"})
"""What a step has that calls something; a prompt, whose answer has no effect, has no ``compensate``."""

_HAS = {"tool": _CALLING, "activity": _CALLING, "workflow": _CALLING, "prompt": _CALLING - {"compensate"}}

_WHY_NOT = {
    "prompt": ("has no effect that could be undone", "leave it out"),
    "skill": ("belongs to the steps of the skill that it runs", "write it there"),
    "wait": ("does not fit a wait", "give the event a deadline, or leave it out"),
    "recall": ("does not fit a recall, which waits for a store that is away", "leave it out"),
    "remember": ("does not fit a step that remembers, whose items have their own fate", "leave it out"),
    "let": ("does not fit a let, which calls nothing", "leave it out"),
    "for_each": ("belongs to the steps inside a block", "write it there"),
    "parallel": ("belongs to the steps inside a block", "write it there"),
}
"""Why a step of a kind has none of them, and what to do instead."""


def _block(data: dict[str, Any], path: str, depth: int) -> ForEach:
    _check_depth(path, depth)
    if "as" not in data:
        raise InvalidSkill(f"{path}.as", "is missing", fix="name the element")
    rest = {name: value for name, value in data.items() if name != "as"}
    if "element" in rest:
        raise InvalidSkill(f"{path}.element", "is not a field here", fix="did you mean 'as'?")
    element = data["as"]
    check_name(element, f"{path}.as")
    inner = {"steps": read_steps(data["steps"], f"{path}.steps", depth + 1)} if "steps" in data else {}
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
    return (_step(entry, path, depth),) if kind_of(entry) == "a mapping" else read_steps(entry, path, depth)


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


def _undoing(data: dict[str, Any], path: str) -> dict[str, Any]:
    if "compensate" not in data:
        return {}
    here = f"{path}.compensate"
    written = mapping(data["compensate"], here, InvalidSkill)
    return {"compensate": validated(CompensateTemplate, written, here, InvalidSkill)}


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


def check_name(name: object, field: str) -> None:
    """Refuse a name that means something in an expression."""
    if name in RESERVED_WORDS or name in _NAMES:
        raise InvalidSkill(field, f"{name!r} is taken by the expressions", fix="choose another name")
