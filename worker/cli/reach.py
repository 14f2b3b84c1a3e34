"""How the CLI reaches a running Perdure: the settings, the servers' addresses, and a Temporal client."""

import asyncio

from temporalio.client import Client

from perdure.errors import StoreUnavailable
from worker.cli.output import say
from worker.pollers import pollers
from worker.servers import ensure, running
from worker.settings import Addresses, Settings

NOTHING_RUNS = "nothing runs here: start it with 'perdure up', or set the servers' addresses"

_WORKER_WITHIN = 10.0
"""Seconds that a worker which was just started may take until it serves; its model is what takes longest."""

_LOOK_AGAIN = 0.25


def reachable(settings: Settings) -> Addresses:
    """Give the addresses of the servers that run.

    Raises:
        StoreUnavailable: None run.
    """
    addresses = running(settings)
    if addresses is None:
        raise StoreUnavailable("servers", NOTHING_RUNS)
    return addresses


def started(settings: Settings) -> Addresses:
    """Give the addresses of the servers, starting them and a worker if need be, and saying so."""
    configured = settings.configured_addresses()
    if configured:
        return configured
    if running(settings) is None:
        say("nothing runs yet: starting local servers and a worker (stop them with 'perdure down')")
    return ensure(settings, worker=True, progress=say)


async def served(client: Client, settings: Settings) -> None:
    """Make sure that somebody will do what is asked; waits a moment for a worker that is just starting.

    Raises:
        StoreUnavailable: No worker serves the task queue.
    """
    queue = settings.task_queue
    if await pollers(client, queue):
        return
    say(f"no worker serves the task queue {queue!r} yet: waiting {_WORKER_WITHIN:.0f} s for one")
    for _ in range(int(_WORKER_WITHIN / _LOOK_AGAIN)):
        await asyncio.sleep(_LOOK_AGAIN)
        if await pollers(client, queue):
            return
    raise StoreUnavailable("worker", no_worker(queue))


def no_worker(queue: str) -> str:
    """Word that nobody serves a task queue, with what to do."""
    return f"none serves the task queue {queue!r}: start one with 'perdure worker'"
