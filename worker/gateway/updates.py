"""Sending updates to workflows until Temporal has taken them. Decides nothing of what they say."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from uuid import uuid4

from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from perdure.model import Request

R = TypeVar("R")

_HAS_ENDED = "already completed|aborted by closing"
"""What an update's refusal says where the workflow had ended, or was ending as the update came (server 1.32)."""

_UNPROCESSED = "UnprocessedUpdate"
"""As what Temporal refuses an update of which the worker that it gave it to said nothing: it may have been killed, or
have dropped the task from its memory, right then (server 1.32)."""

AGAIN_AFTER = 0.2
"""Seconds until what Temporal gave up, or what came as a workflow ended, is sent again; a choice."""


async def sent_update(
    handle: WorkflowHandle[Any, Any],
    update: str,
    argument: Request,
    result_type: type[R] | None = None,
    *,
    sending: str = "",
) -> R:
    """Send an update, and send it again if Temporal dropped it without effect; returns what it returns.

    Temporal drops one when it discards the worker's response to it: another event came while the worker ended the run
    with it, in order to continue as new. It also refuses one of which the worker said nothing. The run then goes on
    without the update.

    Args:
        handle: The workflow.
        update: The update's name.
        argument: What it takes.
        result_type: What it returns.
        sending: The update's id, which Temporal takes once in a run; empty: one of its own.
    """
    sending = sending or uuid4().hex
    return await until_taken(lambda: handle.execute_update(update, argument, id=sending, result_type=result_type))


async def until_taken(send: Callable[[], Awaitable[R]]) -> R:
    """Send an update until Temporal has not dropped it."""
    while True:
        try:
            return await send()
        except RPCError as error:
            if error.status is not RPCStatusCode.FAILED_PRECONDITION:
                raise
        except WorkflowUpdateFailedError as error:
            if not (isinstance(error.cause, ApplicationError) and error.cause.type == _UNPROCESSED):
                raise
        await asyncio.sleep(AGAIN_AFTER)


def has_ended(error: RPCError) -> bool:
    """Return whether an update was refused as its workflow had ended, or was ending as it came."""
    return error.status is RPCStatusCode.NOT_FOUND and re.search(_HAS_ENDED, error.message) is not None
