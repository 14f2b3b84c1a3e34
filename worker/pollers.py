"""Tells who serves a task queue. Starts nobody."""

import socket

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client


async def pollers(client: Client, queue: str, *, pid: int | None = None) -> int:
    """Count the workers of a task queue; one that was killed still counts for up to five minutes.

    Args:
        client: Whom to ask.
        queue: The task queue.
        pid: Count the worker with this process id on this machine alone.
    """
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    # How the SDK names a worker by itself.
    own = f"{pid}@{socket.gethostname()}"
    return sum(pid is None or poller.identity == own for poller in answer.pollers)
