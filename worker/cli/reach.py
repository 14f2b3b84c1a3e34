"""How the CLI reaches a running Perdure: the settings, the servers' addresses, and a Temporal client."""

import asyncio

from temporalio.client import Client

from localservers import ServerNotStarted, ensure, running, state
from perdure.errors import StoreUnavailable
from perdure.settings import Addresses, Settings
from worker.cli.output import say
from worker.connection import connected, pollers

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
    raise StoreUnavailable("worker", no_worker(settings))


async def worker_serves(settings: Settings) -> None:
    """Wait until the worker that runs beside the local servers serves, if there is one.

    Raises:
        ServerNotStarted: It gives up instead; with what it says.
    """
    client = await connected(reachable(settings))
    say("waiting for the worker to serve")
    for _ in range(int(_WORKER_WITHIN / _LOOK_AGAIN)):
        current = state(settings)
        if current is None or current.worker is None:
            return
        if await pollers(client, settings.task_queue, pid=current.worker.pid):
            return
        if current.worker.problem:
            raise ServerNotStarted(no_worker(settings))
        await asyncio.sleep(_LOOK_AGAIN)
    say(f"it does not serve yet; see {settings.home}/logs/worker.log")


def no_worker(settings: Settings) -> str:
    """Word that nobody serves the task queue, with why and what to do."""
    current = state(settings)
    if current and current.worker and current.worker.problem:
        return (
            f"the local one gives up again and again, see {settings.home}/logs/worker.log: {current.worker.problem}\n"
            "To give it other settings: perdure down, then perdure up with them"
        )
    return f"none serves the task queue {settings.task_queue!r}: start one with 'perdure worker'"
