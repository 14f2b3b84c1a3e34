"""How many tasks of which kind a worker takes at once."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto

from temporalio.worker import (
    CustomSlotSupplier,
    FixedSizeSlotSupplier,
    SlotMarkUsedContext,
    SlotPermit,
    SlotReleaseContext,
    SlotReserveContext,
    WorkerTuner,
    WorkflowSlotInfo,
)

REPLAYS = 3
"""Workflow tasks that are taken at once whose workflows this worker does not have in its cache and has to replay. They
share one interpreter: if 25 tasks wait with histories of nearly 1,000 events, a worker that starts and takes them all
at once finishes none within the 4 s of a workflow task, and starts each again (the last answer was taken after 50 s,
measured; of 40 with 2,000 events none within two minutes). Three at a time, all are answered in 9 s. On a machine that
is slower, even three take longer than those 4 s: see ``Places``."""

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
        workflow_supplier=_Supplier(Places(replays)),
        activity_supplier=FixedSizeSlotSupplier(activities),
        local_activity_supplier=FixedSizeSlotSupplier(AT_ONCE),
        nexus_supplier=FixedSizeSlotSupplier(AT_ONCE),
    )


class PlaceUse(Enum):
    """What a place is used for."""

    ASKING = auto()
    """A poll of the queue that all workers share."""
    ASKING_OWN = auto()
    """A poll of the queue of this worker alone, for the workflows in its cache."""
    REPLAY = auto()
    CACHED = auto()


class Place(SlotPermit):
    """A poll, and then what it brought."""

    def __init__(self, use: PlaceUse) -> None:
        self.use = use
        self.used_at = 0.0


class Places:
    """Who may ask Temporal for a workflow task, so that few workflows are replayed at once.

    There are fewer replays while they are slow, as each would be cut off and begun again. Which queue is polled does
    not tell whether a replay comes: where tasks have waited for 5 s in the queue that all workers share, Temporal
    (1.31) answers polls of a worker's own queue out of that one, all of them at once. So while replays are slow, or as
    many as there may be, one poll at a time asks for cached workflows, and while there are more, none does.

    Used from one event loop.

    Args:
        most: How many replays there are at most.
    """

    def __init__(self, most: int) -> None:
        self._most = self.limit = most
        self._count: Counter[PlaceUse] = Counter()
        self._changed = asyncio.Event()

    async def acquire(self, *, is_sticky: bool) -> Place:
        """Wait until one may ask.

        Args:
            is_sticky: For the workflows in this worker's cache.
        """
        while not (self._may_ask_own() if is_sticky else self._may_ask()):
            self._changed.clear()
            await self._changed.wait()
        place = Place(PlaceUse.ASKING_OWN if is_sticky else PlaceUse.ASKING)
        self._count[place.use] += 1
        return place

    def use(self, place: Place, *, is_replay: bool, now: float) -> None:
        """Note what a poll brought.

        Args:
            place: Of the poll.
            is_replay: Its workflow is not in the cache.
            now: In seconds, of a clock that is not set.
        """
        self._count[place.use] -= 1
        place.use, place.used_at = PlaceUse.REPLAY if is_replay else PlaceUse.CACHED, now
        self._count[place.use] += 1
        self._changed.set()

    def release(self, place: Place, *, now: float) -> None:
        """Release a place: the poll brought nothing, or its task has ended.

        Args:
            place: Which.
            now: In seconds, of the clock that ``use`` was told.
        """
        self._count[place.use] -= 1
        if place.use is PlaceUse.REPLAY:
            seconds = now - place.used_at
            if seconds > SLOW:
                self.limit = max(1, self.limit - 1)
            elif seconds < QUICK:
                self.limit = min(self._most, self.limit + 1)
        self._changed.set()

    def _may_ask(self) -> bool:
        return self._count[PlaceUse.ASKING] + self._count[PlaceUse.REPLAY] < self.limit

    def _may_ask_own(self) -> bool:
        asking, replays = self._count[PlaceUse.ASKING_OWN], self._count[PlaceUse.REPLAY]
        most = AT_ONCE if replays < self.limit == self._most else 1 if replays <= self.limit else 0
        return asking < most and asking + self._count[PlaceUse.CACHED] < AT_ONCE


class _Supplier(CustomSlotSupplier):
    """Asks what may be asked for, and tells what came, from whichever thread the SDK says it in."""

    def __init__(self, places: Places) -> None:
        self._loop = asyncio.get_running_loop()
        self._places = places

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:
        return await self._places.acquire(is_sticky=ctx.is_sticky)

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:
        del ctx
        return None

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        if isinstance(place := ctx.permit, Place):
            is_replay = isinstance(ctx.slot_info, WorkflowSlotInfo) and not ctx.slot_info.is_sticky
            self._tell(lambda now: self._places.use(place, is_replay=is_replay, now=now))

    def release_slot(self, ctx: SlotReleaseContext) -> None:
        if isinstance(place := ctx.permit, Place):
            self._tell(lambda now: self._places.release(place, now=now))

    def _tell(self, what: Callable[[float], None]) -> None:
        # It comes even after the loop has ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what, time.monotonic())
