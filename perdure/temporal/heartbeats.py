"""Heartbeats, sent while an attempt works, so that a killed worker is noticed within seconds."""

import asyncio
import functools
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from temporalio import activity

P = ParamSpec("P")
R = TypeVar("R")

_WITHOUT_TIMEOUT = 6.0


@dataclass
class Beats:
    """What each heartbeat tells the next attempt."""

    failures: int
    """How many attempts failed with an exception of the tool's own; killed ones do not count."""


@asynccontextmanager
async def beating() -> AsyncGenerator[Beats]:
    """Send a heartbeat at once and then three times within the time-out, and a last one at the end."""
    info = activity.info()
    interval = (info.heartbeat_timeout.total_seconds() if info.heartbeat_timeout else _WITHOUT_TIMEOUT) / 3
    beats = Beats(failures=int(info.heartbeat_details[0]) if info.heartbeat_details else 0)

    async def beat() -> None:
        while True:
            activity.heartbeat(beats.failures)
            await asyncio.sleep(interval)

    beating = asyncio.create_task(beat())
    try:
        yield beats
    finally:
        beating.cancel()
        activity.heartbeat(beats.failures)


def kept_alive(function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """Send heartbeats for as long as an activity works."""

    @functools.wraps(function)
    async def alive(*args: P.args, **kwargs: P.kwargs) -> R:
        async with beating():
            return await function(*args, **kwargs)

    return alive
