"""Polling for what a test is not notified of: asks until it holds, or gives up."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import UpdateWorkflowExecutionLifecycleStage
from temporalio.api.update.v1 import UpdateRef, WaitPolicy
from temporalio.api.workflowservice.v1 import PollWorkflowExecutionUpdateRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from perdure.values.questions import Question
from perdure.values.tasks import Progress

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds after which a test gives up: what takes 4 s alone took 19 with fourteen processes beside it (measured)."""


async def until(ask: Callable[[], Awaitable[T]], holds: Callable[[T], bool], seconds: float = PATIENCE) -> T:
    """Ask until the answer is right.

    Raises:
        TimeoutError: Not within these seconds, with the last answer and when it came.
    """
    begun = time.monotonic()
    last = "no answer at all"
    try:
        async with asyncio.timeout(seconds):
            while True:
                answer = await ask()
                if holds(answer):
                    return answer
                last = f"after {time.monotonic() - begun:.1f} s: {answer!r}"
                await asyncio.sleep(0.03)
    except TimeoutError as error:
        raise TimeoutError(f"not within {seconds} s; the last answer, {last}") from error


async def until_true(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Look until something holds."""

    async def look() -> bool:
        return holds()

    await until(look, bool, seconds)


_NOT_NOW = {
    RPCStatusCode.FAILED_PRECONDITION,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,
    RPCStatusCode.UNAVAILABLE,
}
"""No worker has polled, none answered in time, the client gave up waiting, or Temporal dropped the query with a
workflow task that took too long."""


async def progress_of(
    handle: WorkflowHandle[Any, Any], holds: Callable[[Progress], bool], seconds: float = PATIENCE
) -> Progress:
    """Ask a task for its progress until something holds of it, also while no worker has polled, or is busy."""

    async def ask() -> Progress | None:
        try:
            return await handle.query("progress", result_type=Progress)
        except RPCError as error:
            if error.status not in _NOT_NOW:
                raise
            return None

    found = await until(ask, lambda one: one is not None and holds(one), seconds)
    assert found is not None
    return found


async def question_of(handle: WorkflowHandle[Any, Any], identifier: str = "", seconds: float = PATIENCE) -> Question:
    """Wait until a task asks something: anything, or this."""
    progress = await progress_of(
        handle, lambda one: any(not identifier or question.id == identifier for question in one.questions), seconds
    )
    return progress.questions[0]


async def update_arrived(client: Client, workflow: str, update: str, seconds: float = PATIENCE) -> None:
    """Wait until Temporal has an update with this id for a workflow, whether or not a worker has accepted it."""
    stage = UpdateWorkflowExecutionLifecycleStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED
    request = PollWorkflowExecutionUpdateRequest(
        namespace=client.namespace,
        update_ref=UpdateRef(workflow_execution=WorkflowExecution(workflow_id=workflow), update_id=update),
        wait_policy=WaitPolicy(lifecycle_stage=stage),
    )

    async def there() -> bool:
        try:
            await client.workflow_service.poll_workflow_execution_update(request)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return False
        return True

    await until(there, bool, seconds)
