"""Finds the earliest of many moments by asking whether there is any before one, which an index answers at once.

Weaviate sorts, and counts, by reading everything that meets a condition. Nearly every entry is due some day, so that
the next one would cost as much as all that is remembered.
"""

from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Any

from perdure.stores.weaviate.mapping import NEVER, micros

CLOSE = 1_000_000
"""Microseconds: what lies within a second of the earliest is sorted, however much it is."""

_AROUND = tuple(timedelta(days=days) for days in (400, 0, -400))
"""Where most dates lie, seen from now: tried first, and before them all time."""


async def bound(any_until: Callable[[int], Coroutine[Any, Any, bool]], now: datetime) -> int | None:
    """Return a moment until which there are a few, the earliest among them; None: there are none at all.

    Args:
        any_until: Returns whether there are any up to a moment, in microseconds as ``micros`` makes them.
        now: Where most of them lie around.
    """
    low, high = -NEVER - 1, NEVER - 1
    if not await any_until(high):
        return None
    tried = [micros(now + step) for step in _AROUND]
    while high - low > CLOSE:
        middle = tried.pop(0) if tried else (low + high) // 2
        if not low < middle < high:
            continue
        if await any_until(middle):
            high = middle
        else:
            low = middle
    return high
