"""Runs that ended before it was said whose they are: their input was refused, or no worker ever began them."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from perdure.names import Attribute, Workflow
from perdure.temporal.errors import of_call
from perdure.temporal.inputs import user_in

_ASKED = (
    Workflow.RESUMABLE_AGENT,
    Workflow.CHECK_TASK,
    Workflow.RECALL_MEMORY,
    Workflow.REMEMBER_ITEMS,
    Workflow.UPDATE_MEMORY,
    Workflow.SET_CONSENT,
    Workflow.SET_MEMBER,
    Workflow.SET_LESSON,
)
"""What people start in a user's name with something of the user's; each is labelled with the tenant once it is read."""


@dataclass(frozen=True, kw_only=True)
class UnlabelledRun:
    """A run that ended without its tenant."""

    workflow_id: str
    run_id: str
    started_at: datetime
    user_id: str
    """Whom its input names, in Unicode NFC, whatever else is wrong with it."""


async def unlabelled_runs(client: Client, queue: str) -> AsyncGenerator[UnlabelledRun]:
    """Yield the runs of a task queue that ended without a label and whose input names a user.

    What completed was labelled. An input that names nobody, or that cannot be read here, is nobody's.

    Raises:
        PerdureError: Temporal does not answer, or refuses the call.
    """
    kinds = ", ".join(f"'{kind}'" for kind in _ASKED)
    query = (
        f"TaskQueue = '{queue}' AND WorkflowType IN ({kinds}) AND {Attribute.TENANT} IS NULL"
        " AND ExecutionStatus IN ('Failed', 'Canceled', 'Terminated', 'TimedOut')"
    )
    try:
        async for run in client.list_workflows(query):
            if user := await _user_of(client, run.id, run.run_id):
                yield UnlabelledRun(workflow_id=run.id, run_id=run.run_id, started_at=run.start_time, user_id=user)
    except RPCError as error:
        raise of_call(error) from error


async def _user_of(client: Client, workflow_id: str, run_id: str) -> str | None:
    events = client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history_events(page_size=1)
    try:
        first = await anext(events)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return None
    given = first.workflow_execution_started_event_attributes.input.payloads
    try:
        return await user_in(client, given)
    except ValueError:
        return None
