"""The connection to Temporal, by its own client configuration and with our data converter. Starts nothing."""

import socket
from collections.abc import Sequence

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, Plugin

from perdure.errors import StoreUnavailable
from perdure.settings import Addresses, temporal_connect
from perdure.temporal.converter import DATA_CONVERTER


async def connected(addresses: Addresses, *, plugins: Sequence[Plugin] = (), lazy: bool = False) -> Client:
    """Connect to Temporal.

    Args:
        addresses: Where it is.
        plugins: As the SDK takes them.
        lazy: Whether only the first call connects, and finds out whether it answers.

    Raises:
        StoreUnavailable: It does not answer.
    """
    try:
        return await Client.connect(
            **temporal_connect(addresses), data_converter=DATA_CONVERTER, plugins=list(plugins), lazy=lazy
        )
    except RuntimeError as error:
        raise StoreUnavailable("temporal", f"{addresses.temporal} does not answer") from error


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
