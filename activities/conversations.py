"""The conversation of an earlier run of a task, from which a later run goes on while Temporal still has it."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client, WorkflowExecution, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.task_runs import LISTED_WITHIN
from perdure.agent.goal_calls import turn_of
from perdure.agent.turns import Conversation
from perdure.errors import InvalidTask, StoreUnavailable
from perdure.names import BINDING, CONVERSATION
from perdure.temporal.errors import of_call
from perdure.values.bindings import TaskBinding

_ANSWERED_WITHIN = timedelta(seconds=10)


async def earlier_turns(
    client: Client,
    task_id: str,
    runs: Sequence[WorkflowExecution],
    binding: TaskBinding,
    effects: Collection[str],
) -> Conversation | None:
    """Return the turns that a task's model has taken, from its newest run that knows all effects; None: none.

    An older run does not replace a newer one that is gone: the turns between would be taken, and would act, again.

    Args:
        client: Asks Temporal, and a worker, which replays a run.
        task_id: The task.
        runs: Its runs before this one, oldest first.
        binding: What it stands for.
        effects: The paths of its effects that are recorded.

    Raises:
        InvalidTask: It has acted in a turn that Temporal no longer has.
        StoreUnavailable: Temporal does not list such a turn's run yet.
    """
    newest = None
    for run in reversed(runs):
        known = await run.memo_value(BINDING, None, type_hint=TaskBinding)
        found = await conversation_of_run(client, run) if binding.is_same(known) else None
        # A run that was reset does not know the later effects of the run that it was reset from.
        if found is not None and not effects_behind(found, effects):
            return found
        newest = newest or found
    if unseen := effects_behind(newest, effects):
        if activity.info().attempt < LISTED_WITHIN:
            # Temporal lists a run a moment after it was prepared.
            raise StoreUnavailable("temporal", "does not list the run in which the task has acted")
        problem = f"{task_id!r} has acted ({', '.join(unseen)}) in a run that Temporal no longer has"
        raise InvalidTask("task_id", problem, fix="a model's turns cannot be taken again: choose a new task_id")
    return None


async def conversation_of_run(client: Client, run: WorkflowExecution) -> Conversation | None:
    """Return the turns that the model took in a run that has ended; None where Temporal no longer has it.

    Args:
        client: Asks Temporal, and a worker, which replays the run.
        run: The run.

    Raises:
        InvalidTask: This build cannot replay it.
        StoreUnavailable: Nobody answers.
    """
    try:
        handle = client.get_workflow_handle(run.id, run_id=run.run_id)
        return await handle.query(CONVERSATION, result_type=Conversation, rpc_timeout=_ANSWERED_WITHIN)
    except WorkflowQueryFailedError as error:
        problem = f"the turns of its run {run.run_id} cannot be read by this build"
        raise InvalidTask("task_id", problem, fix="choose a new task_id") from error
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise of_call(error) from error


def effects_behind(conversation: Conversation | None, effects: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of effects in turns beyond a conversation's end; all of them if there is no conversation."""
    begun = conversation.begun if conversation else 0
    return tuple(path for path in effects if turn_of(path) > begun)
