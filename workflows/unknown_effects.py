"""Effects of unknown fate: what a task notes of a step whose activity failed, and what it names in the end."""

from temporalio.exceptions import ActivityError

from perdure.agent.plan import Action
from perdure.agent.state import TaskState
from perdure.agent.steps.task_calls import Kept
from perdure.tools import Effect
from workflows.failures import may_have_acted
from workflows.running_task import RunningTask


def doubt(running: RunningTask, action: Action, error: ActivityError) -> None:
    """Note a step whose effect may or may not have happened, where its claim does not tell."""
    state, is_ending = running.state, running.branches.ending
    effect = action.tool.effect if action.tool else Effect.READ
    if is_ending and effect.is_once:
        state = state.changed(cut_off=(*state.cut_off, action.path))
    # No claim tells of an effect that can be repeated.
    if (is_ending and effect is Effect.IDEMPOTENT) or (action.undone_by and (is_ending or may_have_acted(error))):
        state = state.doubted(action.path)
    running.state = state


def unknown_at_end(state: TaskState, kept: Kept, *, completed: bool) -> tuple[str, ...]:
    """Return the steps of which a task says in the end that their effects may or may not have happened.

    Args:
        state: The task's.
        kept: What Redis knows of its claims.
        completed: Whether it did all that it was to do.
    """
    # Redis knows better than the workflow which effects did not end well when it was cancelled, but for those whose
    # results it could not take. An effect about which a person has not answered, or not in time, is unknown even if
    # Redis is away, or has lost it.
    told = {*kept.unknown} - {*state.unkept} if kept.answered else {*state.cut_off}
    told |= {*state.unknown, *state.unanswered}
    return tuple(sorted(told if completed else told | {*state.uncertain}))
