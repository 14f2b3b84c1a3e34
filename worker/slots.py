"""How many tasks of which kind a worker takes at once."""

import asyncio
import time
from collections import deque
from contextlib import suppress

from temporalio.worker import (
    CustomSlotSupplier,
    FixedSizeSlotSupplier,
    SlotMarkUsedContext,
    SlotPermit,
    SlotReleaseContext,
    SlotReserveContext,
    WorkerTuner,
)

REPLAYS = 3
"""Workflow tasks that are taken at once from the queue that all workers share, whose workflows this one does not have
in its cache and has to replay. They share one interpreter: if 25 tasks wait with histories of nearly 1,000 events, a
worker that starts and takes them all at once finishes none within the 4 s of a workflow task, and starts each again
(the last answer was taken after 50 s, measured; of 40 with 2,000 events none within two minutes). Three at a time, all
are answered in 9 s. On a machine that is slower, even three take longer than those 4 s: see ``Replays``."""

SLOW = 2.0
"""Seconds from which a replay counts as slow: half of what a workflow task may take."""

QUICK = 0.5
"""Seconds below which one more at a time cannot make it slow."""

AT_ONCE = 100
"""Tasks of each other kind, as many as the SDK takes by itself. To limit cached workflows as well costs: with 4 for
both, 30 tasks of 30 quick steps took 19 to 22 s instead of 12, since a slot is held while the outcome is reported to
Temporal."""


def tuner(*, replays: int = REPLAYS, activities: int = AT_ONCE) -> WorkerTuner:
    """Return what limits a worker. Made in the event loop in which the worker runs."""
    return WorkerTuner.create_composite(
        workflow_supplier=_ByQueue(replays),
        activity_supplier=FixedSizeSlotSupplier(activities),
        local_activity_supplier=FixedSizeSlotSupplier(AT_ONCE),
        nexus_supplier=FixedSizeSlotSupplier(AT_ONCE),
    )


class Replays:
    """How many replays there are at once: fewer while they are slow, as each would be cut off and begun again.

    Used from one event loop.

    Args:
        most: How many there are at most.
    """

    def __init__(self, most: int) -> None:
        self._most = self.limit = most
        self._held = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait for a place."""
        if self._held < self.limit:
            self._held += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.release(None)
            raise

    def release(self, seconds: float | None) -> None:
        """Release a place.

        Args:
            seconds: How long the replay took; None: nothing was replayed.
        """
        self._held -= 1
        if seconds is not None and seconds > SLOW:
            self.limit = max(1, self.limit - 1)
        elif seconds is not None and seconds < QUICK:
            self.limit = min(self._most, self.limit + 1)
        while self._waiting and self._held < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self._held += 1
                place.set_result(None)


class _Permit(SlotPermit):
    def __init__(self, *, is_replay: bool) -> None:
        self.is_replay = is_replay
        self.used_at: float | None = None


class _ByQueue(CustomSlotSupplier):
    """Few workflow tasks that have to be replayed, and many whose workflows are cached."""

    def __init__(self, replays: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._replays, self._cached = Replays(replays), asyncio.Semaphore(AT_ONCE)

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:
        await (self._cached if ctx.is_sticky else self._replays).acquire()
        return _Permit(is_replay=not ctx.is_sticky)

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:
        del ctx
        return None

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        if isinstance(ctx.permit, _Permit):
            ctx.permit.used_at = time.monotonic()

    def release_slot(self, ctx: SlotReleaseContext) -> None:
        # Called from threads of the SDK, even after the loop has ended.
        if isinstance(permit := ctx.permit, _Permit):
            with suppress(RuntimeError):
                if permit.is_replay:
                    seconds = None if permit.used_at is None else time.monotonic() - permit.used_at
                    self._loop.call_soon_threadsafe(self._replays.release, seconds)
                else:
                    self._loop.call_soon_threadsafe(self._cached.release)
