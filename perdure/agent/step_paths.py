"""The steps that a task can have, by their paths: those that a person may name, and whose they are. Pure."""

import re
from collections.abc import Iterator

from perdure.agent.goal_calls import turn_of
from perdure.agent.goal_plan import conversation_of
from perdure.agent.preparation import PreparedTask
from perdure.agent.state import TaskState
from perdure.errors import InvalidTask
from perdure.skills.steps import ForEach, LetStep, Parallel, SkillStep, Step
from perdure.suggestions import nearest

_PART = re.compile(r"([^.\[\]]+)(\[\d+\])?")
_TURN = re.compile(r"turn\[[1-9]\d{0,5}\](\.call\[\d+\])?")


def require_step(state: TaskState, path: str) -> None:
    """Refuse the path of a step that a task does not have.

    Args:
        state: The task's.
        path: As the person wrote it; empty: the task as a whole.

    Raises:
        InvalidTask: With the nearest one.
    """
    if not path:
        return
    if (conversation := conversation_of(state)) is not None:
        if not _TURN.fullmatch(path) or turn_of(path) > conversation.begun:
            fix = f"write turn[N] or turn[N].call[M]; the last turn is {conversation.begun}"
            raise InvalidTask("step", f"its model has taken no {path!r}", fix=fix)
        return
    steps = state.prepared.skill.steps if state.prepared.skill else ()
    for part in path.split("."):
        here = {step.id: step for step in _side_by_side(steps)}
        found = _PART.fullmatch(part)
        step = here.get(found[1]) if found else None
        if found is None or step is None or (found[2] and not isinstance(step, ForEach)):
            raise InvalidTask("step", f"the task has no step {path!r}", fix=nearest(part, here))
        steps = _inside(state.prepared, step) if found[2] or isinstance(step, SkillStep) else ()


def skill_of(prepared: PreparedTask, path: str) -> str:
    """Return the name of the skill whose step a task has at a path: its own, or one that a step runs; empty: none."""
    if prepared.skill is None:
        return ""
    name, steps = prepared.skill.name, prepared.skill.steps
    for part in path.split(".")[:-1]:
        step = next((one for one in _side_by_side(steps) if one.id == part.partition("[")[0]), None)
        if step is None:
            break
        name = step.skill if isinstance(step, SkillStep) else name
        steps = _inside(prepared, step)
    return name


def _side_by_side(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield steps with those whose paths do not name what is around them."""
    for step in steps:
        if isinstance(step, Parallel):
            for lane in step.lanes:
                yield from _side_by_side(lane)
        if not isinstance(step, LetStep):
            yield step


def _inside(prepared: PreparedTask, step: Step) -> tuple[Step, ...]:
    match step:
        case ForEach(steps=steps):
            return steps
        case SkillStep(skill=name):
            return prepared.inner[name].skill.steps
        case _:
            return ()
