"""What runs next to this process: the servers' addresses, and whether the local worker serves."""

import asyncio
from collections.abc import Awaitable, Callable

import localservers
from localservers.loaded import has_loaded
from perdure.errors import NothingRuns
from perdure.settings import Addresses, Settings

WITHIN = 10.0
"""Seconds that a worker which was just started may take until it serves; loading its model takes longest."""

LOOK_AGAIN = 0.25


def problem(settings: Settings) -> str:
    """Return why the local worker fails, or where that can be read; empty where it does not, or where there is none."""
    current = localservers.state(settings)
    if current and current.foreground and current.worker is None:
        pid = current.foreground[0].pid
        how = "does not serve" if has_loaded(settings.home, pid) else "has not begun to serve; it may still load"
        return f"the worker in a terminal (process {pid}) {how}: see what it says there"
    if not (current and current.worker and current.worker.problem):
        return ""
    return (
        f"the local worker fails again and again, see {settings.home}/logs/worker.log: {current.worker.problem}\n"
        "To give it other settings: perdure restart, with them"
    )


def starting(settings: Settings) -> int | None:
    """Return the process id of the local worker that has not said yet that it serves; None: there is none."""
    current = localservers.state(settings)
    if current is None or current.worker is None or current.worker.problem:
        return None
    return None if has_loaded(settings.home, current.worker.pid) else current.worker.pid


def failing(settings: Settings) -> int | None:
    """Return the process id of the local worker whose last attempt to serve failed; None: there is none that did."""
    current = localservers.state(settings)
    if current is None or current.foreground or current.worker is None or not current.worker.problem:
        return None
    return current.worker.pid


async def serving(settings: Settings, count: Callable[..., Awaitable[int]], *, here: bool = False) -> int:
    """Return how many workers serve the task queue.

    Temporal lists a worker that is gone for up to five minutes: while the one of this machine fails again and again,
    those that were here before do not count.

    Args:
        settings: Whose local servers.
        count: Counts workers; takes what ``pollers`` does.
        here: Count only workers on this machine.
    """
    pid = failing(settings)
    # It may have failed once, and serve by now.
    if pid is None or await count(pid=pid):
        return await count(here=True) if here else await count()
    return 0 if here else await count(elsewhere=True)


async def served(settings: Settings, workers: Callable[[int], Awaitable[int]], within: float = WITHIN) -> bool:
    """Wait until the local worker serves; False if it does not within some seconds.

    Args:
        settings: Whose local servers.
        workers: Returns how many workers with a process id serve the task queue.
        within: Seconds to wait.

    Raises:
        ServerNotStarted: It fails again and again; with what it says.
    """
    for _ in range(int(within / LOOK_AGAIN)):
        current = localservers.state(settings)
        if current is None or not current.workers:
            return True
        for one in current.workers:
            if await workers(one.pid):
                return True
        if current.worker and (said := problem(settings)):
            raise localservers.ServerNotStarted(said)
        await asyncio.sleep(LOOK_AGAIN)
    return False


def reachable(settings: Settings) -> Addresses:
    """Return the addresses of the servers that run.

    Raises:
        NothingRuns: None run.
    """
    addresses = localservers.running(settings)
    if addresses is None:
        raise NothingRuns("nothing runs here", fix="start it with 'perdure up', or set the servers' addresses")
    return addresses
