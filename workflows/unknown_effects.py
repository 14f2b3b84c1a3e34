"""Effects of unknown fate: what a task notes of a step whose activity failed. Decides nothing else."""

from temporalio.exceptions import ActivityError

from perdure.agent.plan import Action
from perdure.tools import Effect
from workflows.failures import may_have_acted
from workflows.running_task import RunningTask


def doubt(running: RunningTask, action: Action, error: ActivityError) -> None:
    """Note a step whose effect may or may not have happened, where its claim does not tell."""
    state, is_ending = running.state, running.branches.ending
    effect = action.tool.effect if action.tool else Effect.READ
    if is_ending and effect.is_once:
        state = state.changed(unknown=(*state.unknown, action.path))
    # No claim tells of an effect that can be repeated.
    if (is_ending and effect is Effect.IDEMPOTENT) or (action.undone_by and (is_ending or may_have_acted(error))):
        state = state.doubted(action.path)
    running.state = state
