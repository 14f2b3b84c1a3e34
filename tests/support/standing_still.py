"""A process that stands still for longer than a lease lasts, right before it asks Weaviate for something."""

import time
from typing import Any

import pytest

from perdure.stores.redis.leases import LEASE_SECONDS
from perdure.stores.weaviate.store import LongTerm


def stand_still_before(patch: pytest.MonkeyPatch, call: str, *, fenced: bool) -> None:
    """Have this process stand still before a call, as its clock tells it.

    Args:
        patch: Undoes it at the test's end.
        call: A method of the long-term store that takes a fence.
        fenced: Whether it is given the fence; the control does without.
    """
    asked, clock, slept = getattr(LongTerm, call), time.clock_gettime, 0.0

    def later(which: int) -> float:
        return clock(which) + slept

    async def late(self: LongTerm, *arguments: Any, **fence: Any) -> None:
        nonlocal slept
        slept = LEASE_SECONDS
        await asked(self, *arguments, **(fence if fenced else {}))

    patch.setattr(time, "clock_gettime", later)
    patch.setattr(LongTerm, call, late)
