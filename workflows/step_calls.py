"""Which activity a step is, and what it is given: no more than its expressions refer to. Pure; runs nothing."""

from dataclasses import dataclass

from perdure.agent.skill_plan import Here, scope
from perdure.agent.state import TaskRun, TaskState
from perdure.agent.steps.calls import RecallCall, RememberCall, Resumed, Scope, StepCall
from perdure.model import Instant, Model
from perdure.skills.shape import RecallStep, RememberStep, ToolStep
from workflows import options


@dataclass(frozen=True, kw_only=True)
class StepActivity:
    """An activity that is to be executed."""

    name: str
    argument: Model
    options: options.Options


def scope_of(task: TaskRun, state: TaskState, step: str) -> Scope:
    """Gather what the expressions of a step refer to; of the task's end, under the empty name."""
    prepared = state.prepared
    return scope(prepared.skill, state.cursor, prepared.reads[step], prepared.inputs, task.facts(prepared))


def activity_of(
    task: TaskRun, state: TaskState, at: Here, resumed: Resumed | None, now: Instant
) -> StepActivity | None:
    """Give the activity of a step; None where the task's memory mode leaves nothing to do.

    Args:
        task: The task.
        state: What is known of it.
        at: The step.
        resumed: What it gets back after it asked.
        now: The workflow's own time.
    """
    prepared = state.prepared
    context = {
        "tenant": prepared.tenant,
        "session": task.session,
        "task_id": task.task_id,
        "agent": task.agent,
        "path": at.path,
        "scope": scope_of(task, state, at.step.id),
        "memory": task.memory,
        "occurred_at": _observed_at(task, now),
        "step": at.step,
    }
    ours = options.of_step(prepared.heartbeat)
    match at.step:
        case ToolStep(tool=tool):
            call = StepCall.model_validate({**context, "resumed": resumed})
            how = options.of_tool(prepared.tools[tool], prepared.heartbeat)
            return StepActivity(name=tool, argument=call, options=how)
        case RecallStep() if task.memory.recalls:
            call = RecallCall.model_validate({**context, "now": now})
            return StepActivity(name="recall_step", argument=call, options=ours)
        case RememberStep() if task.memory.remembers:
            call = RememberCall.model_validate(context)
            return StepActivity(name="remember_step", argument=call, options=ours)
        case _:
            return None


def _observed_at(task: TaskRun, now: Instant) -> Instant:
    """When what a step observes counts as observed: noon of the task's date, if it has one."""
    if task.date is None:
        return now
    day = task.date
    return now.replace(year=day.year, month=day.month, day=day.day, hour=12, minute=0, second=0, microsecond=0)
