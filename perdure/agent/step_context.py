"""A step's context: its task, its place, and the time of its observations. Pure."""

from datetime import date, timedelta
from typing import Any

from perdure.agent.preparation import PreparedTask
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import Acting, Scope
from perdure.model import Instant


def context_of(
    task: TaskRun, prepared: PreparedTask, path: str, now: Instant, scope: Scope | None = None
) -> dict[str, Any]:
    """Return the fields of a step's ``StepContext``, except how much of its result travels in the history.

    Args:
        task: The task.
        prepared: What it is pinned to.
        path: The step's place in the plan.
        now: The workflow's time.
        scope: What the step's expressions refer to.
    """
    return {
        "tenant": prepared.tenant,
        "epoch": prepared.epoch,
        "session": task.session,
        "task_id": task.task_id,
        "path": path,
        "memory": task.memory,
        "occurred_at": observed_at(task.date, now),
        **({"scope": scope} if scope else {}),
    }


def acting_of(task: TaskRun, prepared: PreparedTask, state: TaskState, skill: str = "") -> Acting:
    """Return for whom a tool is called now, and how far the task is.

    Args:
        task: The task.
        prepared: What it is pinned to.
        state: How far it is.
        skill: The skill whose step calls it; empty: a model does.
    """
    return Acting(
        user=task.user_id,
        agent=task.agent,
        skill=skill,
        task_skill=task.skill,
        date=prepared.date,
        done=state.done,
    )


def observed_at(day: date | None, now: Instant) -> Instant:
    """Return the time of a step's observations: noon of the task's date, if it has one.

    It is at most a day ahead of now: nothing further in the future can have been observed.
    """
    if day is None:
        return now
    noon = now.replace(year=day.year, month=day.month, day=day.day, hour=12, minute=0, second=0, microsecond=0)
    return min(noon, now + timedelta(days=1))
