"""A position in a skill: which step is next, and what can be read of those before it. Pure values."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue

from perdure.agent.steps.calls import Path, Result, Scope, TaskFacts, Value
from perdure.model import Passed
from perdure.skills.shape import ForEach, RecallStep, Skill, Step
from perdure.tasks import StepStatus

_ABSENT: dict[str, JsonValue] = {"items": [], "records": {}, "context": ""}
"""What can be read of a recall that was skipped."""


class Frame(Passed):
    """A position in one list of steps: the skill's own, or those of a block."""

    step: int = 0
    """The index of the next step."""
    elements: tuple[JsonValue, ...] = ()
    """What the block walks over; nothing for the skill's own steps."""
    index: int = 0
    """The index of the current element."""
    results: dict[str, Result] = Field(default_factory=dict)
    """Of the steps that ended: in this list, and for the current element only."""
    counts: dict[StepStatus, int] = Field(default_factory=dict[StepStatus, int])
    """How the steps of a block ended, over all elements so far."""


class Cursor(Passed):
    """A position in a skill: a frame for its own steps and one for each block that is open."""

    frames: tuple[Frame, ...] = (Frame(),)


@dataclass(frozen=True, kw_only=True)
class Here:
    """The next step."""

    step: Step
    path: str
    """Its place in the running plan: ``audit[12].inspect``."""


def here(skill: Skill, cursor: Cursor) -> Here | None:
    """Return the next step; None when there is none left."""
    *around, steps = _lists(skill, cursor.frames)
    blocks = [
        f"{list_[frame.step].id}[{inner.index}]."
        for list_, frame, inner in zip(around, cursor.frames, cursor.frames[1:], strict=False)
    ]
    last = cursor.frames[-1]
    if last.step >= len(steps):
        return None
    return Here(step=steps[last.step], path=f"{''.join(blocks)}{steps[last.step].id}")


def entered(skill: Skill, cursor: Cursor, elements: tuple[JsonValue, ...]) -> Cursor:
    """Return the position inside the block that is next, now that its list is known."""
    if not elements:
        return _ended(skill, cursor, _counted(Frame()))
    return Cursor(frames=(*cursor.frames, Frame(elements=elements)))


def ended(skill: Skill, cursor: Cursor, result: Result) -> Cursor:
    """Return the position after the step that has just ended."""
    outer, *inner = cursor.frames
    counted = [
        frame.changed(counts={**frame.counts, result.status: frame.counts.get(result.status, 0) + 1}) for frame in inner
    ]
    return _ended(skill, Cursor(frames=(outer, *counted)), result)


def _ended(skill: Skill, cursor: Cursor, result: Result) -> Cursor:
    """Keep a result, and leave every list whose steps have all ended."""
    frames = list(cursor.frames)
    while True:
        steps, frame = _lists(skill, frames)[-1], frames[-1]
        results = {**frame.results, steps[frame.step].id: result}
        frame = frame.changed(step=frame.step + 1, results=results)
        frames[-1] = frame
        if frame.step < len(steps) or len(frames) == 1:
            return Cursor(frames=tuple(frames))
        if frame.index + 1 < len(frame.elements):
            frames[-1] = frame.changed(step=0, index=frame.index + 1, results={})
            return Cursor(frames=tuple(frames))
        result = _counted(frame)
        frames.pop()


def leaves(steps: tuple[Step, ...]) -> int:
    """Return how many steps of a list are no blocks."""
    return sum(not isinstance(step, ForEach) for step in steps)


def scope(skill: Skill, cursor: Cursor, reads: tuple[Path, ...], inputs: dict[str, Value], task: TaskFacts) -> Scope:
    """Return what a step's expressions refer to.

    Args:
        skill: The skill.
        cursor: Where the task stands.
        reads: What the step refers to.
        inputs: The task's inputs.
        task: What expressions call ``task``.
    """
    results: dict[str, Result] = {}
    elements: dict[str, JsonValue] = {}
    kinds: dict[str, Step] = {step.id: step for _, step, _ in skill.walk()}
    for frame in cursor.frames:
        results |= frame.results
    for steps, frame, inner in zip(_lists(skill, cursor.frames), cursor.frames, cursor.frames[1:], strict=False):
        elements |= {_block(steps[frame.step]).element: inner.elements[inner.index], "index": inner.index}
    found: dict[str, dict[str, Value]] = {}
    for path in reads:
        if path[0] == "steps":
            _, step, part = path
            found.setdefault(step, {})[part] = _part(kinds[step], results[step], part)
    roots = {path[0] for path in reads}
    return Scope(
        inputs={path[1]: inputs[path[1]] for path in reads if path[0] == "inputs"},
        steps=found,
        task=task if "task" in roots else None,
        elements={name: value for name, value in elements.items() if name in roots},
    )


def _part(step: Step, result: Result, part: str) -> Value:
    if part == "status":
        return Value(inline=str(result.status))
    absent = _ABSENT.get(part) if isinstance(step, RecallStep) else None
    return result.parts.get(part, Value(inline=absent))


def _counted(frame: Frame) -> Result:
    """Return what can be read of a block from outside."""
    counts = {str(status): frame.counts.get(status, 0) for status in StepStatus}
    numbers = {"count": len(frame.elements), **counts}
    return Result(status=StepStatus.DONE, parts={name: Value(inline=number) for name, number in numbers.items()})


def _lists(skill: Skill, frames: Sequence[Frame]) -> list[tuple[Step, ...]]:
    """Return the list of steps in which each frame stands."""
    lists = [skill.steps]
    for frame in frames[:-1]:
        lists.append(_block(lists[-1][frame.step]).steps)
    return lists


def _block(step: Step) -> ForEach:
    if not isinstance(step, ForEach):
        raise TypeError(f"{step.id} is not a block")
    return step
