"""The connection to Temporal: by its own client configuration, with Perdure's plugin. Starts nothing."""

import socket
from collections.abc import Sequence

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.client import Plugin as ClientPlugin
from temporalio.envconfig import ClientConfig

from perdure.errors import StoreUnavailable
from perdure.temporal.plugin import Plugin


async def connected(address: str, *, plugins: Sequence[ClientPlugin] = (), lazy: bool = False) -> Client:
    """Connect to Temporal as its own client configuration says (profiles, TLS, API key).

    Args:
        address: Its frontend: ``host:port``.
        plugins: More plugins than Perdure's own.
        lazy: Whether only the first call connects, and finds out whether it answers.

    Raises:
        StoreUnavailable: It does not answer.
    """
    config = ClientConfig.load_client_connect_config()
    config["target_host"] = address
    try:
        return await Client.connect(**config, plugins=[Plugin(), *plugins], lazy=lazy)
    except RuntimeError as error:
        raise StoreUnavailable("temporal", f"{address} does not answer") from error


async def pollers(client: Client, queue: str, *, pid: int | None = None) -> int:
    """Return how many workers serve a task queue; one that was killed still counts for up to five minutes.

    Args:
        client: The client to ask with.
        queue: The task queue.
        pid: Count only the worker with this process id on this machine.
    """
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    # The SDK's own default identity of a worker.
    own = f"{pid}@{socket.gethostname()}"
    return sum(pid is None or poller.identity == own for poller in answer.pollers)
