"""Memory for your own workflows: recall, remember, and wait until it is searchable.

Each runs as an activity on Perdure's workers, by their task queue. No recalled text crosses the caller's history: a
recall returns a ``RecallHandle``, with which the caller's activities read what holds at that time (``Gateway.read``).
"""

from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy

from perdure.names import TASK_QUEUE, Activity
from perdure.values.jobs import Receipt, WaitIngestCall
from perdure.values.requests import RecallHandle, RecallRequest, RememberRequest, Submitted

_RETRY = RetryPolicy(initial_interval=timedelta(seconds=0.2), maximum_interval=timedelta(seconds=30))
_HEARTBEAT = timedelta(seconds=4)

R = TypeVar("R")


async def recall(request: RecallRequest, *, task_queue: str = TASK_QUEUE) -> RecallHandle:
    """Recall from every tier, in a workflow.

    Args:
        request: The question; it stands in the workflow's history.
        task_queue: Where Perdure's workers listen.

    Returns:
        What was found, without any text.

    Raises:
        ActivityError: The question is malformed, or no worker of Perdure's has answered for a minute.
    """
    return await workflow.execute_activity(
        Activity.RECALL_HANDLE,
        request,
        result_type=RecallHandle,
        task_queue=task_queue,
        summary="recall",
        start_to_close_timeout=timedelta(seconds=20),
        schedule_to_close_timeout=timedelta(seconds=60),
        heartbeat_timeout=_HEARTBEAT,
        retry_policy=_RETRY,
    )


async def remember(request: RememberRequest, *, task_queue: str = TASK_QUEUE) -> str:
    """Submit items to be remembered, in a workflow; the same request again is the same job.

    Args:
        request: The items; they stand in the workflow's history.
        task_queue: Where Perdure's workers listen.

    Returns:
        The id of their job, which is accepted: it goes on whatever becomes of the caller.

    Raises:
        ActivityError: The items are malformed. While no worker or store answers, this waits.
    """
    return (await _patiently(Activity.REMEMBER, request, Submitted, task_queue, "remember")).job


async def until_searchable(job: str, *, task_queue: str = TASK_QUEUE) -> Receipt:
    """Wait for a job's receipt, in a workflow: what became of each item.

    Args:
        job: The job that ``remember`` returned.
        task_queue: Where Perdure's workers listen.

    Raises:
        ActivityError: The job failed, or there is none.
    """
    return await _patiently(Activity.WAIT_INGEST, WaitIngestCall(job=job), Receipt, task_queue, "until searchable")


async def _patiently(activity: str, given: object, result_type: type[R], task_queue: str, summary: str) -> R:
    return await workflow.execute_activity(
        activity,
        given,
        result_type=result_type,
        task_queue=task_queue,
        summary=summary,
        start_to_close_timeout=timedelta(seconds=60),
        heartbeat_timeout=_HEARTBEAT,
        retry_policy=_RETRY,
    )
