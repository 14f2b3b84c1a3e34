"""A position in a skill: which step is next, and what can be read of those before it. Pure values."""

import json
from collections.abc import Mapping, Sequence, Set
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
    """Of the steps that ended, as far as they are still to be read: in this list, and for the current element only."""
    inline: int = 0
    """Bytes that the values in ``results`` have, without those that are kept elsewhere."""
    counts: dict[StepStatus, int] = Field(default_factory=dict[StepStatus, int])
    """How the steps of a block ended, over all elements so far."""


class Cursor(Passed):
    """A position in a skill: a frame for its own steps and one for each block that is open."""

    frames: tuple[Frame, ...] = (Frame(),)

    @property
    def inline(self) -> int:
        """Bytes that the values in the results have, without those that are kept elsewhere."""
        return sum(frame.inline for frame in self.frames)


class Readers:
    """Who reads which result for the last time, so that a task does not carry along what nobody reads any more.

    Args:
        skill: The skill.
        reads: What the expressions of each step refer to, by its id; the end of the task under the empty name.
    """

    def __init__(self, skill: Skill, reads: Mapping[str, Sequence[Path]]) -> None:
        places = {"": len(skill.steps)}
        for path, step, _ in skill.walk():
            places[step.id] = int(path.partition("[")[2].partition("]")[0])
        self._last: dict[tuple[str, str], int] = {}
        for reader, paths in reads.items():
            for path in paths:
                if path[0] == "steps":
                    part = (path[1], path[2])
                    self._last[part] = max(places[reader], self._last.get(part, 0))
        self._until: dict[int, set[str]] = {}
        self._last_of: dict[str, int] = {}
        for (step, _), place in self._last.items():
            self._until.setdefault(place, set()).add(step)
            self._last_of[step] = max(place, self._last_of.get(step, 0))

    def read_until(self, place: int) -> Set[str]:
        """Return the steps of which something is read for the last time at a place among the skill's own steps."""
        return self._until.get(place, frozenset())

    def still_read(self, step: str, result: Result, place: int) -> Result | None:
        """Return what is read of a step's result behind a place; None: nothing."""
        if self._last_of.get(step, -1) <= place:
            return None
        parts = {part: value for part, value in result.parts.items() if self._last.get((step, part), -1) > place}
        return result if len(parts) == len(result.parts) else result.changed(parts=parts)


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


def entered(skill: Skill, cursor: Cursor, elements: tuple[JsonValue, ...], read: Readers) -> Cursor:
    """Return the position inside the block that is next, now that its list is known."""
    if not elements:
        return _ended(skill, cursor, _counted(Frame()), read)
    return Cursor(frames=(*cursor.frames, Frame(elements=elements)))


def ended(skill: Skill, cursor: Cursor, result: Result, read: Readers) -> Cursor:
    """Return the position after the step that has just ended."""
    outer, *inner = cursor.frames
    counted = [
        frame.changed(counts={**frame.counts, result.status: frame.counts.get(result.status, 0) + 1}) for frame in inner
    ]
    return _ended(skill, Cursor(frames=(outer, *counted)), result, read)


def _ended(skill: Skill, cursor: Cursor, result: Result, read: Readers) -> Cursor:
    """Keep a result, and leave every list whose steps have all ended."""
    frames = list(cursor.frames)
    while True:
        steps, frame = _lists(skill, frames)[-1], frames[-1]
        # In a block nothing is dropped before its element ends: the next element begins without results.
        place = frame.step if len(frames) == 1 else -1
        frame = _keeping(frame, read, place, {steps[frame.step].id: result})
        frames[-1] = frame
        if frame.step < len(steps) or len(frames) == 1:
            return Cursor(frames=tuple(frames))
        if frame.index + 1 < len(frame.elements):
            frames[-1] = frame.changed(step=0, index=frame.index + 1, results={}, inline=0)
            return Cursor(frames=tuple(frames))
        result = _counted(frame)
        frames.pop()


def _keeping(frame: Frame, read: Readers, place: int, new: Mapping[str, Result]) -> Frame:
    """Return the frame with new results, as far as somebody behind the place reads them or those that it has."""
    results, inline = dict(frame.results), frame.inline
    for step in {*read.read_until(place), *new}:
        old = results.pop(step, None)
        result = new.get(step, old)
        kept = read.still_read(step, result, place) if result else None
        if kept:
            results[step] = kept
        inline += _inline(kept) - _inline(old)
    return frame.changed(step=frame.step + 1, results=results, inline=inline)


def _inline(result: Result | None) -> int:
    values = result.parts.values() if result else ()
    return sum(len(json.dumps(value.inline)) for value in values if not value.ref)


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
