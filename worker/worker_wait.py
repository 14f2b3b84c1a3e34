"""Waiting for a worker that serves but may not answer: a person is notified after seconds, and never waits for ever."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from temporalio.client import WorkflowUpdateRPCTimeoutOrCancelledError

from perdure.errors import WorkerUnavailable
from perdure.temporal.errors import is_cancelling

NOTICE_AFTER = 5.0
"""Seconds without an answer after which a person is notified; a choice. Most answers take less than one."""

ANSWER_WITHIN = 60.0
"""Seconds within which a worker has to answer a request; a choice. A killed worker is replaced sooner."""


@asynccontextmanager
async def waiting(
    notify: Callable[[str], None], what: str, *, afterwards: str, within: float | None
) -> AsyncGenerator[None]:
    """Notify a person when the block takes a moment, and end it when it takes too long.

    Args:
        notify: Called with a sentence.
        what: What is waited for.
        afterwards: Whether it may still take effect when it is no longer waited for.
        within: Seconds that the block may take; None: any number.

    Raises:
        WorkerUnavailable: It took longer.
    """
    told = asyncio.get_running_loop().call_later(NOTICE_AFTER, notify, f"waiting for a worker to {what}")
    try:
        async with asyncio.timeout(within):
            yield
    except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        if is_cancelling():
            raise
        problem = (
            "a worker serves the task queue, and did not answer in time: it may be busy, hang, or wait for a store"
        )
        raise WorkerUnavailable(f"{problem}; {afterwards}") from error
    finally:
        told.cancel()
