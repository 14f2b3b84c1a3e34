"""The last conversation of a session, as Temporal knows it, and the messages that the next one has to recognise."""

from typing import NamedTuple

from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.names import CHAT, HANDLED
from perdure.values.chats import HANDED_ON, ChatLog, handed_on_in
from worker.gateway.base import ANSWERED_WITHIN

_CUT_OFF = (WorkflowExecutionStatus.TERMINATED, WorkflowExecutionStatus.TIMED_OUT)
"""How a conversation ends that could not write down what it had answered."""


class Latest(NamedTuple):
    """The last conversation of a session."""

    is_open: bool = False
    """False: it has ended, or there is none."""
    handled: tuple[str, ...] = ()
    """The ids of the messages that it, and the ones before it, answered last; once it has ended."""


async def latest_of(client: Client, identifier: str) -> Latest:
    """Return the last conversation under a workflow id.

    Raises:
        RPCError: No worker can say what it has answered, where Temporal has ended it.
    """
    found = await described(client, identifier)
    if found is None or found.status is WorkflowExecutionStatus.RUNNING:
        return Latest(is_open=found is not None)
    try:
        handled = handed_on_in(await found.memo_value(HANDLED, ()))
    except Exception:  # noqa: BLE001  whatever a converter raises of a memo that somebody else has written
        handled = ()
    if found.status in _CUT_OFF:
        handled = tuple(dict.fromkeys((*handled, *await _answered_in(client, found))))
    return Latest(handled=handled[-HANDED_ON:])


async def described(client: Client, identifier: str) -> WorkflowExecutionDescription | None:
    """Return what Temporal knows of the last conversation under a workflow id; None: there is none."""
    try:
        return await client.get_workflow_handle(identifier).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return None


async def log_of(client: Client, identifier: str, run_id: str | None = None) -> ChatLog:
    """Return what was said in a conversation, open or ended."""
    handle = client.get_workflow_handle(identifier, run_id=run_id)
    return await handle.query(CHAT, result_type=ChatLog, rpc_timeout=ANSWERED_WITHIN)


async def _answered_in(client: Client, found: WorkflowExecutionDescription) -> tuple[str, ...]:
    """Return the ids of the messages that a conversation answered last; none where nothing can be known of it."""
    try:
        log = await log_of(client, found.id, found.run_id)
    except WorkflowQueryFailedError:
        # No worker can replay it.
        return ()
    except RPCError as error:
        if error.status is not RPCStatusCode.FAILED_PRECONDITION:
            raise
        # It was ended before a worker had it.
        return ()
    return tuple(one.message.id for one in log.exchanges)
