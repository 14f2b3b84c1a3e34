"""Heartbeats, sent while an attempt works, so that a killed worker is noticed within seconds."""

import asyncio
import datetime
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from temporalio import activity

_WITHOUT_TIMEOUT = 6.0

_UNTOLD = (0, 0, 0, 0)
"""What a heartbeat tells, where there was none."""


@dataclass
class Beats:
    """What an attempt reports: each heartbeat to the next attempt, and its failure to the person asked about it."""

    failures: int
    """How many attempts failed with an exception of the tool's own, or how often what a model answered was not what its
    step expects; killed attempts do not count."""
    acted: bool
    """Whether this attempt, or one before it, may have done what must not happen twice."""
    arguments: str = ""
    """Of its call, for its failure."""
    deadline: datetime.datetime | None = None
    """Until when its call can act, for its failure."""
    tokens: int = 0
    """Tokens that a model read and wrote in this attempt and those before it."""
    unusable: int = 0
    """How many answers of a model could not be used since the last failure."""

    def tell(self, untouched: int = 0) -> None:
        """Send a heartbeat.

        Args:
            untouched: The number of the attempt, where nothing had happened until its end; 0: nobody knows.
        """
        activity.heartbeat(self.failures, untouched, self.tokens, self.unusable)


_current: ContextVar[Beats] = ContextVar("beats")


def beats() -> Beats:
    """Return what the heartbeats of the attempt that is running now report."""
    return _current.get()


@asynccontextmanager
async def beating() -> AsyncGenerator[None]:
    """Send a heartbeat three times within the time-out, and a last one where the attempt fails.

    The SDK holds heartbeats back, and a killed attempt sends no more. So none of them announces that the effect is
    about to happen: the last one says, with the attempt's number, that nothing had happened until then. An attempt that
    ends well sends none before its time: that is a call less for each step, and a write less for Temporal's server. A
    local activity sends none at all.
    """
    info = activity.info()
    if info.is_local:
        _current.set(Beats(failures=0, acted=info.attempt > 1))
        yield
        return
    interval = (info.heartbeat_timeout.total_seconds() if info.heartbeat_timeout else _WITHOUT_TIMEOUT) / 3
    told = info.heartbeat_details
    failures, _, tokens, unusable = (*map(int, told[: len(_UNTOLD)]), *_UNTOLD[len(told) :])
    mine = Beats(
        failures=failures,
        acted=not nothing_done_before(info.attempt, told),
        tokens=tokens,
        unusable=unusable,
    )
    _current.set(mine)

    async def beat() -> None:
        while True:
            await asyncio.sleep(interval)
            mine.tell()

    task = asyncio.create_task(beat())
    try:
        yield
    except BaseException:
        mine.tell(untouched=0 if mine.acted else info.attempt)
        raise
    finally:
        task.cancel()


def nothing_done_before(attempt: int, told: Sequence[Any]) -> bool:
    """Return whether no attempt before this one can have done anything. Pure.

    Args:
        attempt: The number of this attempt. It restarts if somebody resets the activity.
        told: What the last heartbeat of those before it reported.

    >>> nothing_done_before(1, [])
    True
    >>> nothing_done_before(3, [0, 2])  # The second attempt ended, and until then nothing was done.
    True
    >>> nothing_done_before(3, [0, 0])  # The second one was killed, or has acted.
    False
    >>> nothing_done_before(3, [0, 1])  # Nothing is known of the second one.
    False
    >>> nothing_done_before(3, [0, 2, 150, 1])  # So it is where a model was asked.
    True
    >>> nothing_done_before(1, [0, 0])  # The activity was reset.
    False
    """
    if not told:
        return attempt == 1
    return attempt > 1 and told[1:2] == [attempt - 1]
