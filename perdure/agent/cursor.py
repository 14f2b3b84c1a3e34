"""Positions in a skill: where each branch stands, and what can be read of the steps before it. Pure values."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from perdure.agent.preparation import InnerSkill
from perdure.agent.steps.calls import Result, Value
from perdure.model import Passed
from perdure.skills.steps import ForEach, LetStep, Parallel, SkillStep, Step
from perdure.values.tasks import StepStatus

MAIN = "main"
"""The branch that walks through a skill's own steps."""


class Walk(Passed):
    """A block whose elements are walked over, or a skill that a step runs."""

    elements: tuple[JsonValue, ...]
    """The elements of its list; for steps side by side, the number of each list of steps; for a skill, one."""
    begun: int = 0
    """How many of them have or had a branch."""
    open: int = 0
    """How many of them have one."""
    counts: dict[StepStatus, int] = Field(default_factory=dict[StepStatus, int])
    """How the steps inside ended, over all elements so far."""
    inputs: dict[str, Value] = Field(default_factory=dict[str, Value])
    """Those of the skill that the step runs."""
    problem: str = ""
    """Why the skill that the step runs has failed: what is under way in it ends, and nothing of it begins."""


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
    past: dict[str, Result] = Field(default_factory=dict[str, Result], exclude=True)
    """All that the steps left that ended in this run of the task, outside of lists and inner skills; never carried."""


Cursors = Mapping[str, Cursor]
"""The position of each branch, by its name."""


def counts(step: Step) -> bool:
    """Return whether an entry of a list counts as a step: blocks and names do not."""
    return not isinstance(step, ForEach | Parallel | LetStep | SkillStep)


def leaves(steps: tuple[Step, ...]) -> int:
    """Return how many entries of a list count as steps."""
    return sum(map(counts, steps))


def inside(step: Step, elements: int, inner: Mapping[str, InnerSkill] | None = None) -> int:
    """Return how many steps a block adds, once it is known how many elements it has.

    Args:
        step: The block.
        elements: The number of its elements.
        inner: The skills that steps run, by their names.
    """
    match step:
        case ForEach(steps=steps):
            return elements * leaves(steps)
        case Parallel(lanes=lanes):
            return sum(map(leaves, lanes[:elements]))
        case SkillStep(skill=name) if inner:
            return leaves(inner[name].skill.steps)
        case _:
            return 0
