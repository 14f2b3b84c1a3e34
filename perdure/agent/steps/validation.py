"""Checks of a whole task before its first step: skill against tools, names against what there is, inputs. Pure."""

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from pydantic import JsonValue

from perdure.documents import kind_of
from perdure.durations import duration_of
from perdure.errors import InvalidArguments, InvalidExpression, InvalidSkill
from perdure.expressions.evaluation import expressions, references
from perdure.expressions.syntax import Path
from perdure.registry.judge import criterion_of
from perdure.skills.foreign import ActivityStep, WorkflowStep
from perdure.skills.inputs import filled_inputs, is_of, require_checks, wanted
from perdure.skills.linked_skills import LinkedSkill
from perdure.skills.shape import Skill, lane_path
from perdure.skills.steps import (
    EventStep,
    ForEach,
    LetStep,
    Parallel,
    PromptStep,
    RecallStep,
    SkillStep,
    Step,
    ToolStep,
    WaitStep,
    templates_of,
)
from perdure.skills.templates import CompensateTemplate, InputType
from perdure.suggestions import nearest
from perdure.toolbox import Toolbox
from perdure.tools import Effect, Tool

TASK_FIELDS = frozenset({"id", "date", "agent"})
"""What expressions can read of the task."""
_COUNTS = frozenset({"status", "count", "done", "skipped", "failed"})
PARTS: dict[object, frozenset[str]] = {
    RecallStep: frozenset({"items", "records", "context", "status"}),
    PromptStep: frozenset({"output", "status", "problem"}),
    SkillStep: frozenset({"output", "status", "problem"}),
    ActivityStep: frozenset({"output", "status", "problem"}),
    WorkflowStep: frozenset({"output", "status", "problem"}),
    WaitStep: frozenset({"status"}),
    EventStep: frozenset({"output", "status"}),
    ForEach: _COUNTS,
    Parallel: _COUNTS,
}
"""What expressions can read of a finished step, by its kind."""
TOOL_PARTS = frozenset({"output", "status", "answer", "problem"})
"""What expressions can read of a finished step that is of no other kind."""
_ANY: dict[InputType, JsonValue] = {
    InputType.STRING: "",
    InputType.INTEGER: 0,
    InputType.NUMBER: 0,
    InputType.BOOLEAN: False,
    InputType.LIST: [],
    InputType.OBJECT: {},
}
"""Some value of each type."""
OWN_RESULT: dict[type[object], dict[str, tuple[str, ...]]] = {
    ToolStep: {
        "expect": ("output", "answer"),
        "ask": ("output",),
        "remember": ("output", "answer"),
        "compensate": ("output",),
    },
    PromptStep: {"expect": ("output",), "remember": ("output",)},
    SkillStep: {"remember": ("output",)},
    ActivityStep: {"expect": ("output",), "remember": ("output",), "compensate": ("output",)},
    WorkflowStep: {"expect": ("output",), "remember": ("output",), "compensate": ("output",)},
}
"""Which fields of a step know its own result."""


def checked_inputs(skill: Skill, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Check a task's inputs, fill in defaults, and ask the skill's safety checks about them.

    Raises:
        InvalidTask: Naming the input, or the check that does not hold with what it says.
        InvalidExpression: A check has no value.
    """
    inputs = filled_inputs(skill, given)
    require_checks(skill, inputs)
    return inputs


def check_linked(linked: LinkedSkill, toolbox: Toolbox) -> dict[str, dict[str, tuple[Path, ...]]]:
    """Check a skill, and all that its steps run; returns what ``check_skill`` returns of each, by its name."""
    reads = dict[str, dict[str, tuple[Path, ...]]]()
    for skill in linked.every:
        with linked.placing(skill.name):
            reads[skill.name] = check_skill(skill, toolbox, linked.inner)
    return reads


def check_skill(
    skill: Skill, toolbox: Toolbox, inner: Mapping[str, Skill] | None = None
) -> dict[str, tuple[Path, ...]]:
    """Check a skill against the tools there are, and its expressions against the names there are.

    Args:
        skill: The skill.
        toolbox: The tools.
        inner: The skills that its steps run, by their names.

    Returns:
        What the expressions of each step refer to, by its id, truncated to what the plan passes on:
        ``("inputs", name)``, ``("steps", id, part)``, ``("task",)`` or ``(element,)``; what a ``let`` names is a
        part of it. The end of the task stands under the empty name.

    Raises:
        InvalidSkill: For an unknown tool, or a default of the wrong type.
        InvalidArguments: For arguments that the tool does not take.
        InvalidExpression: For a name that is not there.
    """
    for name, spec in skill.inputs.items():
        if spec.default is not None and not is_of(spec.type, spec.default):
            problem = f"is {kind_of(spec.default)}"
            raise InvalidSkill(f"inputs.{name}.default", problem, fix=f"give {wanted(spec.type)}")
    for place, name in enumerate(skill.requires.tools if skill.requires else ()):
        toolbox.get(name, f"requires.tools[{place}]", InvalidSkill)
    check = _Check(skill, toolbox, inner or {})
    known = check.steps(skill.steps, "steps", _Known({}, {}))
    output = [("output", reference) for reference in references(skill.output, "output")]
    judging = {"expect": skill.expect, "judge": criterion_of(skill.judge)}
    judged = [(name, one) for name, text in judging.items() for one in references(text, name) if one[0] != "output"]
    ending = {check.resolved(reference, field, known) for field, reference in (*output, *judged)}
    return {**check.reads, "": tuple(sorted(ending))}


class _Known(NamedTuple):
    """What expressions can name at one place."""

    steps: Mapping[str, Step]
    """The steps before it, by id."""
    names: Mapping[str, Path]
    """Elements, ``index`` and what ``let`` has named, each with what the plan passes on for it."""

    def named(self, names: Mapping[str, Path]) -> "_Known":
        """Return the same with more names."""
        return self._replace(names={**self.names, **names})

    def behind(self, steps: Mapping[str, Step]) -> "_Known":
        """Return what can be named behind more steps."""
        return self._replace(steps={**self.steps, **steps})


class _Check:
    """The check of one skill, which gathers what each of its steps reads."""

    def __init__(self, skill: Skill, toolbox: Toolbox, inner: Mapping[str, Skill]) -> None:
        self._skill = skill
        self._toolbox = toolbox
        self._inner = inner
        self.reads: dict[str, tuple[Path, ...]] = {}

    def steps(self, steps: Sequence[Step], path: str, known: _Known) -> _Known:
        """Check steps in order, each against those before it; nothing outside reads what is in a ``for_each``.

        Returns:
            What is known behind them, in the same list.
        """
        for index, step in enumerate(steps):
            here = f"{path}[{index}]"
            match step:
                case ToolStep():
                    _check_tool(step, here, self._toolbox)
                case ActivityStep() | WorkflowStep() if step.compensate:
                    _check_undoing(step.compensate, here, self._toolbox)
                case SkillStep():
                    _check_inputs(step, here, self._inner[step.skill])
                case _:
                    pass
            self.reads[step.id] = tuple(sorted(self._read_by(step, here, known)))
            if isinstance(step, LetStep):
                known = known.named({name: ("steps", step.id, name) for name in step.let})
                continue
            inner: dict[str, Step] = {}
            match step:
                case ForEach(element=element):
                    walked: dict[str, Path] = {name: (name,) for name in (element, "index")}
                    self.steps(step.steps, f"{here}.steps", known.named(walked))
                case Parallel():
                    # Each knows what stands before all of them, and what stands behind them knows the steps of all.
                    for number, lane in enumerate(step.lanes):
                        inner |= self.steps(lane, lane_path(here, number), known).steps
                case _:
                    pass
            known = known.behind({**inner, step.id: step})
        return known

    def _read_by(self, step: Step, path: str, known: _Known) -> set[Path]:
        return {
            self.resolved(reference, f"{path}.{name}", known)
            for name, value in templates_of(step).items()
            for reference in references(value, f"{path}.{name}")
            if reference[0] not in OWN_RESULT.get(type(step), {}).get(name, ())
        }

    def resolved(self, reference: Path, field: str, known: _Known) -> Path:
        """Check that a reference resolves, and truncate it to the part that the plan passes on."""
        root, *rest = reference
        match root:
            case "inputs" | "steps" if not rest:
                one = "inputs.name" if root == "inputs" else "steps.id"
                raise InvalidExpression(field, f"names all {root} at once", fix=f"name one: {one}")
            case "inputs":
                _require(rest[0], self._skill.inputs, field, "input")
                return ("inputs", rest[0])
            case "task":
                for name in rest[:1]:
                    _require(name, TASK_FIELDS, field, "field of task")
                return ("task",)
            case "steps":
                if rest[0] not in known.steps:
                    problem = f"there is no step before this one {rest[0]!r}"
                    raise InvalidExpression(field, problem, fix=self._elsewhere(rest[0], field, known))
                parts = PARTS.get(type(known.steps[rest[0]]), TOOL_PARTS)
                if len(rest) < 2:
                    raise InvalidExpression(field, f"names steps.{rest[0]} as a whole", fix=nearest("", parts))
                _require(rest[1], parts, field, f"part of steps.{rest[0]}")
                return ("steps", rest[0], rest[1])
            case _:
                _require(root, {"inputs", "steps", "task", *known.names}, field, "name")
                return known.names[root]

    def _elsewhere(self, name: str, field: str, known: _Known) -> str:
        """Return what to do about a step that is not before the one that reads it."""
        walked = [(path, step) for path, step, _ in self._skill.walk()]
        place = next((path for path, step in walked if step.id == name), None)
        if place is None:
            return nearest(name, known.steps) or "the skill has no step of this name"
        blocks = [f"{path}.steps[" for path, step in walked if isinstance(step, ForEach)]
        if any(place.startswith(block) and not field.startswith(block) for block in blocks):
            return f"{place} stands in a for_each, and no step outside of it reads what is inside"
        return f"{place} has not ended then: move it before this step, or read it in a later one"


def _require(name: str, known: Mapping[str, Any] | Set[str], field: str, what: str) -> None:
    if name not in known:
        raise InvalidExpression(field, f"there is no {what} {name!r}", fix=nearest(name, known))


def _check_inputs(step: SkillStep, path: str, skill: Skill) -> None:
    """Check what a skill is given: what holds an expression, and what the skill checks of it, when it is known."""
    given: dict[str, JsonValue] = {}
    for name, value in step.inputs.items():
        known, field = skill.inputs.get(name), f"{path}.inputs.{name}"
        # Of an expression only its value could be of the wrong type: there is some of each.
        is_open = known is not None and any(expressions(value, field))
        given[name] = _ANY.get(known.type) if known is not None and is_open else value
    filled_inputs(skill, given, f"{path}.inputs", InvalidSkill)


def _check_tool(step: ToolStep, path: str, toolbox: Toolbox) -> None:
    tool = toolbox.get(step.tool, f"{path}.tool", InvalidSkill)
    if step.timeout and duration_of(step.timeout).total_seconds() > tool.timeout:
        problem = f"{step.timeout} is longer than the {tool.timeout:g} s that tool {tool.name!r} declares"
        raise InvalidSkill(f"{path}.timeout", problem, fix="shorten it, or leave it out")
    _check_arguments(tool, step.args, path)
    if step.compensate is None:
        return
    if tool.effect is Effect.READ:
        problem = f"tool {tool.name!r} only reads: there is nothing to undo"
        raise InvalidSkill(f"{path}.compensate", problem, fix="leave it out")
    _check_undoing(step.compensate, path, toolbox)


def _check_undoing(undoing: CompensateTemplate, path: str, toolbox: Toolbox) -> None:
    tool = toolbox.get(undoing.tool, f"{path}.compensate.tool", InvalidSkill)
    _check_arguments(tool, undoing.args, f"{path}.compensate")


def _check_arguments(tool: Tool[..., Any], args: Mapping[str, JsonValue], path: str) -> None:
    tool.require_names(args, f"{path}.args")
    # What holds an expression is checked when its value is known.
    literal = {name: value for name, value in args.items() if not any(expressions(value, f"{path}.args.{name}"))}
    tool.validate(literal, f"{path}.args", partial=True)


def checked_arguments(
    tool: Tool[..., Any], arguments: Mapping[str, JsonValue], written: Mapping[str, JsonValue], field: str
) -> dict[str, Any]:
    """Return the keyword arguments of a tool's call.

    Args:
        tool: The tool.
        arguments: What the step's arguments came to.
        written: The arguments as the skill has them.
        field: Where they stand.

    Raises:
        InvalidArguments: They do not match the tool's signature; of one that an expression left empty, with that.
    """
    try:
        return tool.validate(arguments, field)
    except InvalidArguments as error:
        name = error.field.removeprefix(f"{field}.")
        template = written.get(name)
        if name not in arguments or arguments[name] is not None or not any(expressions(template, error.field)):
            raise
        fix = "skip the step in that case with when, or give another value"
        raise InvalidArguments(error.field, f"is empty: {template} gave nothing", fix=fix) from None
