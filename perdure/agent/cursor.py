"""Positions in a skill: where each branch stands, and what can be read of the steps before it. Pure values.

A branch walks through one list of steps. At a block it waits, while a branch for each element, or for each list of
steps, walks through what is inside. The first branch walks through the skill's own steps, and ends last.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from pydantic import Field, JsonValue

from perdure.agent.steps.calls import Path, Result, Scope, TaskFacts, Value
from perdure.model import Passed
from perdure.skills.shape import Skill
from perdure.skills.steps import ForEach, LetStep, Parallel, RecallStep, Step
from perdure.tasks import StepStatus

MAIN = "main"
"""The branch that walks through a skill's own steps."""

_NEVER_RUN = Result(status=StepStatus.SKIPPED)
"""The result of a step in a skipped block."""

_ABSENT: dict[str, JsonValue] = {"items": [], "records": {}, "context": ""}
"""The results of a skipped recall."""


class Walk(Passed):
    """A block whose elements are walked over."""

    elements: tuple[JsonValue, ...]
    """The elements of its list; for steps side by side, the number of each list of steps."""
    begun: int = 0
    """How many of them have or had a branch."""
    open: int = 0
    """How many of them have one."""
    counts: dict[StepStatus, int] = Field(default_factory=dict[StepStatus, int])
    """How the steps inside ended, over all elements so far."""


class Cursor(Passed):
    """A branch's position in its list of steps."""

    step: int = 0
    """The index of the next step."""
    results: dict[str, Result] = Field(default_factory=dict)
    """Results of the ended steps in the list that are still to be read."""
    inline: int = 0
    """Bytes of the values in ``results``, without those that are kept elsewhere."""
    walk: Walk | None = None
    """The block at which it stands, once its list is known: the branch waits until it has ended."""
    parent: str = ""
    """The branch that waits for this one; empty: it walks through the skill's own steps."""
    index: int = 0
    """Which element of the parent's block it walks for."""


Cursors = Mapping[str, Cursor]
"""The position of each branch, by its name."""


class Readers:
    """Where each result is read for the last time, so that a task does not carry along what nobody reads any more.

    Args:
        skill: The skill.
        reads: What the expressions of each step refer to, by its id; the end of the task under the empty name.
    """

    def __init__(self, skill: Skill, reads: Mapping[str, Sequence[Path]]) -> None:
        self.recalls = frozenset(step.id for _, step, _ in skill.walk() if isinstance(step, RecallStep))
        self.lets = frozenset(step.id for _, step, _ in skill.walk() if isinstance(step, LetStep))
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
        """Return the steps whose results are last read at a place among the skill's own steps."""
        return self._until.get(place, frozenset())

    def still_read(self, step: str, result: Result, place: int) -> Result | None:
        """Return the parts of a step's result that are read after a place; None: nothing is."""
        if self._last_of.get(step, -1) <= place:
            return None
        parts = {part: value for part, value in result.parts.items() if self._last.get((step, part), -1) > place}
        return result if len(parts) == len(result.parts) else result.changed(parts=parts)


@dataclass(frozen=True, kw_only=True)
class Here:
    """The next step of a branch."""

    step: Step
    path: str
    """Its place in the running plan: ``audit[12].inspect``."""


class Route:
    """A skill as branches walk through it.

    Args:
        skill: The skill.
        reads: What the expressions of each step refer to, by its id; the end of the task under the empty name.
    """

    def __init__(self, skill: Skill, reads: Mapping[str, Sequence[Path]]) -> None:
        self._skill = skill
        self._read = Readers(skill, reads)

    def here(self, cursors: Cursors, branch: str) -> Here | None:
        """Return the next step of a branch; None when there is none left."""
        steps, cursor = self._steps(cursors, branch), cursors[branch]
        if cursor.step >= len(steps):
            return None
        return Here(step=steps[cursor.step], path=f"{self._prefix(cursors, branch)}{steps[cursor.step].id}")

    def entered(self, cursors: Cursors, branch: str, elements: tuple[JsonValue, ...]) -> dict[str, Cursor]:
        """Return the positions once the list of a branch's next block is known."""
        walk = Walk(elements=elements)
        return self._walked({**cursors, branch: cursors[branch].changed(walk=walk)}, branch)

    def ended(self, cursors: Cursors, branch: str, result: Result) -> dict[str, Cursor]:
        """Return the positions after the step at which a branch stands has ended. Branches that ended are gone."""
        found, at = dict(cursors), self.here(cursors, branch)
        for name in _around(cursors, branch) if at and counts(at.step) else ():
            if (walk := found[name].walk) is not None:
                ended = {**walk.counts, result.status: walk.counts.get(result.status, 0) + 1}
                found[name] = found[name].changed(walk=walk.changed(counts=ended))
        return self._ended(found, branch, result)

    def scope(
        self,
        cursors: Cursors,
        branch: str,
        reads: tuple[Path, ...],
        inputs: dict[str, Value],
        task: TaskFacts,
    ) -> Scope:
        """Return what a step's expressions refer to.

        Args:
            cursors: Where the branches stand.
            branch: The branch of the step.
            reads: What the step refers to.
            inputs: The task's inputs.
            task: What expressions call ``task``.
        """
        results: dict[str, Result] = {}
        elements: dict[str, JsonValue] = {}
        for name in (*reversed(_around(cursors, branch)), branch):
            results |= cursors[name].results
            parent = cursors.get(cursors[name].parent)
            block = self._block(cursors, name)
            if parent is not None and parent.walk is not None and isinstance(block, ForEach):
                index = cursors[name].index
                elements |= {block.element: parent.walk.elements[index], "index": index}
        found, names = dict[str, dict[str, Value]](), dict[str, Value]()
        for path in reads:
            if path[0] == "steps":
                _, step, part = path
                of = names if step in self._read.lets else found.setdefault(step, {})
                of[part] = _part(results.get(step, _NEVER_RUN), part, is_recall=step in self._read.recalls)
        roots = {path[0] for path in reads}
        return Scope(
            inputs={path[1]: inputs[path[1]] for path in reads if path[0] == "inputs"},
            steps=found,
            task=task if "task" in roots else None,
            elements={name: value for name, value in elements.items() if name in roots},
            names=names,
        )

    def _ended(self, cursors: Cursors, branch: str, result: Result) -> dict[str, Cursor]:
        """Keep a result, and go on after its step, or with the branch that waits for this one."""
        steps, cursor = self._steps(cursors, branch), cursors[branch]
        # Inside a block nothing is dropped before its element ends: the next element begins without results.
        place = -1 if cursor.parent else cursor.step
        cursor = _keeping(cursor, self._read, place, {steps[cursor.step].id: result})
        found = {**cursors, branch: cursor.changed(step=cursor.step + 1, walk=None)}
        if cursor.step + 1 < len(steps) or not cursor.parent:
            return found
        return self._left(found, branch)

    def _left(self, cursors: Cursors, branch: str) -> dict[str, Cursor]:
        """Remove a branch that has come to its end, and go on with the block that it was for."""
        rest = dict(cursors)
        gone = rest.pop(branch)
        parent = rest[gone.parent]
        if parent.walk is None:
            raise ValueError(f"{gone.parent} does not wait for {branch}")
        parent = parent.changed(walk=parent.walk.changed(open=parent.walk.open - 1))
        if isinstance(self._block(cursors, branch), Parallel):
            # Steps after the block read them.
            parent = parent.changed(results={**parent.results, **gone.results}, inline=parent.inline + gone.inline)
        return self._walked({**rest, gone.parent: parent}, gone.parent)

    def _walked(self, cursors: Cursors, branch: str) -> dict[str, Cursor]:
        """Begin as many elements of a branch's block as may be under way; leave it where all have ended."""
        found, cursor = dict(cursors), cursors[branch]
        block, walk = self._steps(cursors, branch)[cursor.step], cursor.walk
        if walk is None:
            raise ValueError(f"{branch} stands at no block")
        more = min(_at_once(block) - walk.open, len(walk.elements) - walk.begun)
        prefix = f"{self._prefix(cursors, branch)}{block.id}"
        for index in range(walk.begun, walk.begun + more):
            found[f"{prefix}[{index}]"] = Cursor(parent=branch, index=index)
        walk = walk.changed(begun=walk.begun + more, open=walk.open + more)
        found[branch] = cursor.changed(walk=walk)
        return found if walk.open else self._ended(found, branch, _counted(walk))

    def _block(self, cursors: Cursors, branch: str) -> Step | None:
        """Return the block that a branch is for; None: the skill itself."""
        parent = cursors[branch].parent
        return self._steps(cursors, parent)[cursors[parent].step] if parent else None

    def _steps(self, cursors: Cursors, branch: str) -> tuple[Step, ...]:
        """Return the list of steps that a branch walks through."""
        match self._block(cursors, branch):
            case None:
                return self._skill.steps
            case ForEach(steps=steps):
                return steps
            case Parallel(lanes=lanes):
                return lanes[cursors[branch].index]
            case step:
                raise TypeError(f"{step.id} is not a block")

    def _prefix(self, cursors: Cursors, branch: str) -> str:
        """Return the prefix of the paths of a branch's steps: only ``for_each`` blocks add to it, as ids are unique."""
        found = ""
        for name in (*reversed(_around(cursors, branch)), branch):
            block = self._block(cursors, name)
            if isinstance(block, ForEach):
                found += f"{block.id}[{cursors[name].index}]."
        return found


def counts(step: Step) -> bool:
    """Return whether an entry of a list counts as a step: blocks and names do not."""
    return not isinstance(step, ForEach | Parallel | LetStep)


def leaves(steps: tuple[Step, ...]) -> int:
    """Return how many entries of a list count as steps."""
    return sum(map(counts, steps))


def inside(step: Step, elements: int) -> int:
    """Return how many steps a block adds, once it is known how many elements it has."""
    match step:
        case ForEach(steps=steps):
            return elements * leaves(steps)
        case Parallel(lanes=lanes):
            return sum(map(leaves, lanes[:elements]))
        case _:
            return 0


def _around(cursors: Cursors, branch: str) -> list[str]:
    """Return the branches that wait for a branch, the nearest first."""
    found: list[str] = []
    while parent := cursors[branch].parent:
        found.append(parent)
        branch = parent
    return found


def _at_once(block: Step) -> int:
    match block:
        case ForEach(at_once=at_once):
            return at_once
        case Parallel(lanes=lanes):
            return len(lanes)
        case _:
            raise TypeError(f"{block.id} is not a block")


def _keeping(cursor: Cursor, read: Readers, place: int, new: Mapping[str, Result]) -> Cursor:
    """Return the cursor with new and existing results, as far as something after the place reads them."""
    results, inline = dict(cursor.results), cursor.inline
    for step in dict.fromkeys((*sorted(read.read_until(place)), *new)):
        old = results.pop(step, None)
        result = new.get(step, old)
        kept = read.still_read(step, result, place) if result else None
        if kept:
            results[step] = kept
        inline += _inline(kept) - _inline(old)
    return cursor.changed(results=results, inline=inline)


def _inline(result: Result | None) -> int:
    values = result.parts.values() if result else ()
    return sum(len(json.dumps(value.inline)) for value in values if not value.ref)


def _part(result: Result, part: str, *, is_recall: bool) -> Value:
    if part == "status":
        return Value(inline=str(result.status))
    return result.parts.get(part, Value(inline=_ABSENT.get(part) if is_recall else None))


def _counted(walk: Walk) -> Result:
    """Return the results of a block that can be read from outside it."""
    ended = {str(status): walk.counts.get(status, 0) for status in StepStatus}
    numbers = {"count": len(walk.elements), **ended}
    return Result(status=StepStatus.DONE, parts={name: Value(inline=number) for name, number in numbers.items()})
