"""A later run of a task that has a goal: it goes on from the turns of the one before, as long as Temporal has them."""

from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistoryEventFilterType
from temporalio.service import RPCError, RPCStatusCode

from perdure.agent.turns import Conversation
from perdure.names import CONVERSATION
from perdure.temporal.errors import of_call


async def conversation_of_run(client: Client, workflow_id: str, first_run: str) -> Conversation | None:
    """Return the turns that the model took in a run that has ended; None where Temporal no longer has it.

    Args:
        client: Asks Temporal, and a worker, which replays the run.
        workflow_id: Of the run.
        first_run: Its first run id; those that continued it are followed.

    Raises:
        StoreUnavailable: Temporal does not answer.
    """
    try:
        handle = client.get_workflow_handle(workflow_id, run_id=await _last_of(client, workflow_id, first_run))
        return await handle.query(CONVERSATION, result_type=Conversation)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise of_call(error) from error


async def _last_of(client: Client, workflow_id: str, first_run: str) -> str:
    run = first_run
    while True:
        handle: Any = client.get_workflow_handle(workflow_id, run_id=run)
        closing = handle.fetch_history_events(event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT)
        async for event in closing:
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
                run = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
                break
        else:
            return run
