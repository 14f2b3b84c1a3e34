"""The conversation of an earlier run of a task, from which a later run goes on while Temporal still has it."""

from collections.abc import Iterable
from datetime import timedelta

from temporalio.client import Client, WorkflowExecution, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.agent.goal_calls import turn_of
from perdure.agent.turns import Conversation
from perdure.errors import InvalidTask
from perdure.names import CONVERSATION
from perdure.temporal.errors import of_call

_ANSWERED_WITHIN = timedelta(seconds=10)


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
