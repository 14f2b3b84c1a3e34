"""The way through a skill: where each branch goes next, and what can be read of the steps before it. Pure.

A branch walks through one list of steps. At a block it waits, while a branch for each element, or for each list of
steps, walks through what is inside; at a step that runs a skill, one branch walks through the steps of that skill,
which see nothing from outside but their inputs. The first branch walks through the task's own skill, and ends last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from perdure.agent.cursor import Cursor, Cursors, Walk, counts
from perdure.agent.element_names import name_of
from perdure.agent.preparation import InnerSkill
from perdure.agent.readers import Readers, inline_of, keeping
from perdure.agent.steps.calls import Result, Scope, TaskFacts, Value
from perdure.expressions.syntax import Path
from perdure.skills.shape import Skill
from perdure.skills.steps import ForEach, Parallel, SkillStep, Step
from perdure.skills.templates import OnFailure
from perdure.values.tasks import StepStatus

_NEVER_RUN = Result(status=StepStatus.SKIPPED)
"""The result of a step in a skipped block."""

_ABSENT: dict[str, JsonValue] = {"items": [], "records": {}, "context": ""}
"""The results of a skipped recall."""


@dataclass(frozen=True, kw_only=True)
class Here:
    """The next step of a branch."""

    step: Step
    path: str
    """Its place in the running plan: ``audit[12].inspect``."""
    leaves: bool = False
    """Whether the step runs a skill whose own steps have all ended."""


class _Skill:
    """One skill, and what its steps read."""

    def __init__(self, skill: Skill, reads: Mapping[str, Sequence[Path]]) -> None:
        self.skill = skill
        self.reads = reads

    @cached_property
    def readers(self) -> Readers:
        """Where its results are read."""
        return Readers(self.skill, self.reads)


class Route:
    """A skill as branches walk through it.

    Args:
        skill: The skill.
        reads: What the expressions of each step refer to, by its id; the end of the task under the empty name.
        inner: The skills that steps run, by their names.
    """

    def __init__(
        self,
        skill: Skill,
        reads: Mapping[str, Sequence[Path]],
        inner: Mapping[str, InnerSkill] | None = None,
    ) -> None:
        self._own = _Skill(skill, reads)
        self._inner = {name: _Skill(one.skill, one.reads) for name, one in (inner or {}).items()}

    def here(self, cursors: Cursors, branch: str) -> Here | None:
        """Return the next step of a branch; None when there is none left."""
        steps, cursor = self._steps(cursors, branch), cursors[branch]
        if cursor.step < len(steps):
            return Here(step=steps[cursor.step], path=f"{self._prefix(cursors, branch)}{steps[cursor.step].id}")
        block = self._block(cursors, branch)
        if not isinstance(block, SkillStep):
            return None
        return Here(step=block, path=f"{self._prefix(cursors, cursor.parent)}{block.id}", leaves=True)

    def shown(self, cursors: Cursors, branch: str, at: Here) -> str:
        """Return the path of a branch's next step for people to read: with the names of elements (``audit[North]``)."""
        return f"{self._prefix(cursors, cursors[branch].parent if at.leaves else branch, named=True)}{at.step.id}"

    def entered(
        self,
        cursors: Cursors,
        branch: str,
        elements: tuple[JsonValue, ...],
        inputs: Mapping[str, Value] | None = None,
    ) -> dict[str, Cursor]:
        """Return the positions once the list of a branch's next block is known, or the inputs of its skill."""
        walk = Walk(elements=elements, inputs=dict(inputs or {}))
        return self._walked({**cursors, branch: cursors[branch].changed(walk=walk)}, branch)

    def ended(self, cursors: Cursors, branch: str, result: Result) -> dict[str, Cursor]:
        """Return the positions after the step at which a branch stands has ended. Branches that ended are gone."""
        found, at = self._counted(cursors, branch, result.status), self.here(cursors, branch)
        if at is None or not at.leaves:
            return self._ended(found, branch, result)
        rest = dict(found)
        return self._ended(rest, rest.pop(branch).parent, result)

    def catching(self, cursors: Cursors, branch: str) -> str:
        """Return the nearest branch around one whose step goes on where the skill that it runs fails; empty: none."""
        for name in _around(cursors, branch):
            step = self._steps(cursors, name)[cursors[name].step]
            if isinstance(step, SkillStep) and step.on_failure is OnFailure.CONTINUE:
                return name
        return ""

    def given_up(self, cursors: Cursors, branch: str, problem: str) -> dict[str, Cursor]:
        """Return the positions once the skill that a branch's step runs has failed; the first problem counts."""
        walk = cursors[branch].walk
        if walk is None or walk.problem:
            return dict(cursors)
        return {**cursors, branch: cursors[branch].changed(walk=walk.changed(problem=problem))}

    def is_given_up(self, cursors: Cursors, branch: str) -> bool:
        """Return whether a branch is in a skill that has failed."""
        walks = (cursors[name].walk for name in _around(cursors, branch))
        return any(walk.problem for walk in walks if walk)

    def dropped(self, cursors: Cursors, branch: str, status: StepStatus | None) -> dict[str, Cursor]:
        """Return the positions without a branch of a skill that has failed.

        Args:
            cursors: Where the branches stand.
            branch: The branch.
            status: How its step ended; None: it has not begun.
        """
        rest = self._counted(cursors, branch, status) if status else dict(cursors)
        while True:
            name = rest.pop(branch).parent
            walk = rest[name].walk
            if walk is None:
                raise ValueError(f"{name} does not wait for {branch}")
            walk = walk.changed(open=walk.open - 1)
            rest[name] = rest[name].changed(walk=walk)
            if walk.open:
                return rest
            if walk.problem:
                parts = {"problem": Value(inline=walk.problem)}
                return self._ended(rest, name, Result(status=StepStatus.FAILED, parts=parts))
            branch = name

    def is_alone(self, cursors: Cursors, branch: str) -> bool:
        """Return whether no other branch can be at work beside one, by the shape of the skill alone."""
        return all(_at_once(self._steps(cursors, name)[cursors[name].step]) == 1 for name in _around(cursors, branch))

    def reads(self, cursors: Cursors, branch: str) -> Mapping[str, Sequence[Path]]:
        """Return what the steps of a branch's skill refer to, by their ids; the end of the skill has the empty name."""
        return self._skill_of(cursors, branch).reads

    def skill(self, cursors: Cursors, branch: str) -> Skill:
        """Return the skill that a branch walks through."""
        return self._skill_of(cursors, branch).skill

    def scope(
        self,
        cursors: Cursors,
        branch: str,
        reads: Sequence[Path],
        inputs: Mapping[str, Value],
        task: TaskFacts,
    ) -> Scope:
        """Return what a step's expressions refer to.

        Args:
            cursors: Where the branches stand.
            branch: The branch of the step.
            reads: What the step refers to.
            inputs: The task's inputs, which the steps of the task's own skill see.
            task: What expressions call ``task``.
        """
        results: dict[str, Result] = {}
        elements: dict[str, JsonValue] = {}
        home = self._home(cursors, branch)
        own = self._skill_of(cursors, branch).readers
        if (around := cursors[cursors[home].parent].walk if cursors[home].parent else None) is not None:
            inputs = around.inputs
        for name in self._within(cursors, branch):
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
                of = names if step in own.lets else found.setdefault(step, {})
                of[part] = _part(results.get(step, _NEVER_RUN), part, is_recall=step in own.recalls)
        roots = {path[0] for path in reads}
        return Scope(
            inputs={path[1]: inputs[path[1]] for path in reads if path[0] == "inputs"},
            steps=found,
            task=task if "task" in roots else None,
            elements={name: value for name, value in elements.items() if name in roots},
            names=names,
        )

    def _counted(self, cursors: Cursors, branch: str, status: StepStatus) -> dict[str, Cursor]:
        """Count how a branch's step ended in each block around it."""
        found, at = dict(cursors), self.here(cursors, branch)
        for name in _around(cursors, branch) if at and counts(at.step) else ():
            if (walk := found[name].walk) is not None:
                ended = {**walk.counts, status: walk.counts.get(status, 0) + 1}
                found[name] = found[name].changed(walk=walk.changed(counts=ended))
        return found

    def _ended(self, cursors: Cursors, branch: str, result: Result) -> dict[str, Cursor]:
        """Keep a result, and go on after its step, or with the branch that waits for this one."""
        steps, cursor = self._steps(cursors, branch), cursors[branch]
        # Inside a block nothing is dropped before its element ends: the next element begins without results.
        is_home = self._home(cursors, branch) == branch
        own = self._skill_of(cursors, branch).readers
        if not self._prefix(cursors, branch):
            cursor = cursor.changed(past={**cursor.past, steps[cursor.step].id: result})
        cursor = keeping(cursor, own, cursor.step if is_home else -1, {steps[cursor.step].id: result})
        found = {**cursors, branch: cursor.changed(step=cursor.step + 1, walk=None)}
        # At the end of a skill its output has to be computed.
        return found if cursor.step + 1 < len(steps) or is_home else self._left(found, branch)

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
            parent = parent.changed(past={**parent.past, **gone.past})
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
            found[f"{prefix}[{index}]"] = Cursor(parent=branch, index=index, inline=inline_of(walk.inputs))
        walk = walk.changed(begun=walk.begun + more, open=walk.open + more)
        found[branch] = cursor.changed(walk=walk)
        return found if walk.open else self._ended(found, branch, _counts_of(walk))

    def _block(self, cursors: Cursors, branch: str) -> Step | None:
        """Return the block that a branch is for; None: the task's own skill."""
        parent = cursors[branch].parent
        return self._steps(cursors, parent)[cursors[parent].step] if parent else None

    def _home(self, cursors: Cursors, branch: str) -> str:
        """Return the branch that walks through the own steps of the skill that a branch is in."""
        while (parent := cursors[branch].parent) and not isinstance(self._block(cursors, branch), SkillStep):
            branch = parent
        return branch

    def _within(self, cursors: Cursors, branch: str) -> list[str]:
        """Return the branches of a branch's skill that wait for it, and itself, the innermost last."""
        home = self._home(cursors, branch)
        around = [branch, *_around(cursors, branch)]
        return around[: around.index(home) + 1][::-1]

    def _skill_of(self, cursors: Cursors, branch: str) -> _Skill:
        block = self._block(cursors, self._home(cursors, branch))
        return self._inner[block.skill] if isinstance(block, SkillStep) else self._own

    def _steps(self, cursors: Cursors, branch: str) -> tuple[Step, ...]:
        """Return the list of steps that a branch walks through."""
        match self._block(cursors, branch):
            case None:
                return self._own.skill.steps
            case ForEach(steps=steps):
                return steps
            case Parallel(lanes=lanes):
                return lanes[cursors[branch].index]
            case SkillStep(skill=name):
                return self._inner[name].skill.steps
            case step:
                raise TypeError(f"{step.id} is not a block")

    def _prefix(self, cursors: Cursors, branch: str, *, named: bool = False) -> str:
        """Return the prefix of the paths of a branch's steps, with the places of elements, or with their names.

        Only ``for_each`` blocks and skills add to it, as ids are unique within a skill.
        """
        found = ""
        for name in (*reversed(_around(cursors, branch)), branch):
            match self._block(cursors, name):
                case ForEach(id=block):
                    index, walk = cursors[name].index, cursors[cursors[name].parent].walk
                    found += f"{block}[{name_of(walk.elements[index], index) if named and walk else index}]."
                case SkillStep(id=step):
                    found += f"{step}."
                case _:
                    pass
        return found


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
        case SkillStep():
            return 1
        case _:
            raise TypeError(f"{block.id} is not a block")


def _part(result: Result, part: str, *, is_recall: bool) -> Value:
    if part == "status":
        return Value(inline=str(result.status))
    return result.parts.get(part, Value(inline=_ABSENT.get(part) if is_recall else None))


def _counts_of(walk: Walk) -> Result:
    """Return the results of a block that can be read from outside it."""
    ended = {str(status): walk.counts.get(status, 0) for status in StepStatus}
    numbers = {"count": len(walk.elements), **ended}
    return Result(status=StepStatus.DONE, parts={name: Value(inline=number) for name, number in numbers.items()})
