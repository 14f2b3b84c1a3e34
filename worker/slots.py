"""How many tasks of which kind a worker takes at once."""

import asyncio
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
are answered in 9 s."""

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


class _Permit(SlotPermit):
    def __init__(self, free: asyncio.Semaphore) -> None:
        self.free = free


class _ByQueue(CustomSlotSupplier):
    """Few workflow tasks that have to be replayed, and many whose workflows are cached."""

    def __init__(self, replays: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._replayed, self._cached = asyncio.Semaphore(replays), asyncio.Semaphore(AT_ONCE)

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:
        free = self._cached if ctx.is_sticky else self._replayed
        await free.acquire()
        return _Permit(free)

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:
        del ctx
        return None

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        pass

    def release_slot(self, ctx: SlotReleaseContext) -> None:
        # Called from threads of the SDK, even after the loop has ended.
        if isinstance(ctx.permit, _Permit):
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(ctx.permit.free.release)
