"""The connection to Temporal: by its own client configuration, with Perdure's plugin. Starts nothing."""

import re
import socket
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.client import Plugin as ClientPlugin
from temporalio.envconfig import ClientConfig
from temporalio.service import GrpcCompression

from perdure.addresses import is_here
from perdure.errors import InvalidInput
from perdure.temporal.configuration import correction
from perdure.temporal.errors import not_connected
from perdure.temporal.plugin import Plugin

_ASKS_WITHIN = timedelta(seconds=90)
"""How long ago a worker that lives may have asked for work at most: Temporal answers a poll after a minute."""


async def connected(address: str, *, plugins: Sequence[ClientPlugin] = ()) -> Client:
    """Connect to Temporal as its own client configuration says (profiles, TLS, API key).

    Args:
        address: Its frontend: ``host:port``.
        plugins: More plugins than Perdure's own.

    Raises:
        InvalidInput: The configuration cannot be used, or the address is invalid.
        StoreRefused: It refuses the login, or TLS.
        StoreUnavailable: It does not answer.
    """
    try:
        config = ClientConfig.load_client_connect_config()
    except (OSError, RuntimeError, ValueError) as error:
        problem = f"its client configuration cannot be read: {error}"
        raise InvalidInput("temporal", problem, fix=correction()) from error
    config["target_host"] = address
    key = config.get("api_key")
    if isinstance(key, str) and not re.fullmatch(r"[!-~]+", key):
        # The SDK would leave it out, and be refused for that.
        raise InvalidInput("TEMPORAL_API_KEY", "has characters that no key has", fix=correction("TEMPORAL_API_KEY"))
    try:
        return await Client.connect(**config, plugins=[Plugin(), *plugins], grpc_compression=_compression(address))
    except ValueError as error:
        fix = correction("TEMPORAL_ADDRESS")
        raise InvalidInput("temporal", f"{address!r} cannot be connected to: {error}", fix=fix) from error
    except RuntimeError as error:
        raise not_connected(error, address) from error


def _compression(address: str) -> GrpcCompression:
    """Return how messages are compressed: on one machine that takes time on both sides, and saves none on the way."""
    here = is_here(address.rpartition(":")[0].strip("[]"))
    return GrpcCompression.NONE if here else GrpcCompression.GZIP


async def pollers(
    client: Client,
    queue: str,
    *,
    pid: int | None = None,
    here: bool = False,
    elsewhere: bool = False,
    lately: bool = False,
    lives: Callable[[str], bool] = lambda _: True,
) -> int:
    """Return how many workers serve a task queue; one that was killed still counts for up to five minutes.

    Args:
        client: The client to ask with.
        queue: The task queue.
        pid: Count only the worker with this process id on this machine.
        here: Count only workers on this machine (or in this container) that have asked for work lately: not one that
            hangs.
        elsewhere: Count only workers on other machines.
        lately: Count only workers that have asked for work in the last minute and a half.
        lives: Says whether a process with an id, which asked from this machine, is still there.
    """
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    # The SDK's own default identity of a worker.
    host = f"@{socket.gethostname()}"
    found = [one for one in answer.pollers if pid is None or one.identity == f"{pid}{host}"]
    found = [one for one in found if not one.identity.endswith(host) or lives(one.identity.removesuffix(host))]
    if elsewhere:
        found = [one for one in found if not one.identity.endswith(host)]
    if here:
        found = [one for one in found if one.identity.endswith(host)]
    if here or lately:
        since = datetime.now(UTC) - _ASKS_WITHIN
        found = [one for one in found if one.last_access_time.ToDatetime(tzinfo=UTC) > since]
    return len(found)
