"""Heartbeats, sent while an attempt works, so that a killed worker is noticed within seconds."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from temporalio import activity

_WITHOUT_TIMEOUT = 6.0


@dataclass
class Beats:
    """What each heartbeat reports to the next attempt."""

    failures: int
    """How many attempts failed with an exception of the tool's own; killed ones do not count."""


_current: ContextVar[Beats] = ContextVar("beats")


def beats() -> Beats:
    """Return what the heartbeats of the attempt that is running now report."""
    return _current.get()


@asynccontextmanager
async def beating() -> AsyncGenerator[None]:
    """Send a heartbeat at once and then three times within the time-out, and a last one at the end."""
    info = activity.info()
    interval = (info.heartbeat_timeout.total_seconds() if info.heartbeat_timeout else _WITHOUT_TIMEOUT) / 3
    mine = Beats(failures=int(info.heartbeat_details[0]) if info.heartbeat_details else 0)
    _current.set(mine)

    async def beat() -> None:
        while True:
            activity.heartbeat(mine.failures)
            await asyncio.sleep(interval)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        activity.heartbeat(mine.failures)
