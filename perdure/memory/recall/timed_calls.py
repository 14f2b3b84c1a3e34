"""The calls of one recall to the stores, each within its share of one time limit, and which stores did not answer."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sized
from typing import TypeVar

from perdure.errors import StoreUnavailable
from perdure.memory.recall.absences import What
from perdure.memory.recall.sources import Sources
from perdure.models.errors import ModelRefused

_T = TypeVar("_T")
_S = TypeVar("_S", bound=Sized)

_WRITER_SHARE = 0.1
"""Part of the time limit: if Redis takes longer to say who wrote last, the store is asked, which is only slower."""
_STORES_SHARE = 0.75
"""Part of the time limit: what has not been answered by then is looked for on disk."""
ALL_SHARE = 0.95
"""Part of the time limit: the rest is for putting the result together."""


class TimedCalls:
    """Calls that are answered in time, or not at all.

    Args:
        sources: What is asked, and how long all of it may take.
        tenant: Whose memory it is.
    """

    def __init__(self, sources: Sources, tenant: str) -> None:
        self._from, self._tenant = sources, tenant
        self._started = asyncio.get_running_loop().time()
        # Several searches may need who wrote last at once; one asks.
        self._looking = asyncio.Lock()
        self._last_writer: str | None = None
        self._looked = False
        self.degraded: set[str] = set()
        """The stores that did not answer."""

    def end(self, share: float) -> float:
        """Return the moment when a share of the time is over, by the event loop's clock."""
        return self._started + self._from.limit * share

    @property
    def is_up(self) -> bool:
        """Whether the store has answered so far, and has lost nothing."""
        return "weaviate" not in self.degraded

    async def stored(self, operation: str, call: Callable[[], Awaitable[_T]]) -> _T | None:
        """Ask the store; None: it does not answer."""
        return await self.ask("weaviate", operation, call) if self.is_up else None

    async def unless_none(self, what: What, find: Callable[[], Awaitable[_S]], nothing: _S) -> _S | None:
        """Ask the store, unless it is known that there is nothing; None: it does not answer."""
        writer, absences = await self._writer() if self.is_up else None, self._from.absences
        if writer is not None and absences.known(self._tenant, what, writer):
            return nothing
        found = await self.stored(what, find)
        if writer is not None and found is not None and not found:
            absences.add(self._tenant, what, writer)
        return found

    async def _writer(self) -> str | None:
        """Return who had written last when first asked; None: somebody wrote since, or Redis did not answer in time."""
        async with self._looking:
            if not self._looked:
                self._last_writer, self._looked = await self._look(), True
        return self._last_writer

    async def _look(self) -> str | None:
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(self._from.limit * _WRITER_SHARE):
                return await self._from.leases.writer(self._tenant)
        return None

    async def ask_disk(self, place: str, call: Callable[[], Awaitable[_T]]) -> _T | None:
        """Ask a place on disk, which has until all of it has to be there; None: it does not answer."""
        return await self.ask(place, "read", call, self.end(ALL_SHARE))

    async def ask(
        self, store: str, operation: str, call: Callable[[], Awaitable[_T]], end: float | None = None
    ) -> _T | None:
        """Ask a store; None: it does not answer within its share, or before a moment of the event loop's clock."""
        try:
            with self._from.telemetry.call(store, operation):
                async with asyncio.timeout_at(end or self.end(_STORES_SHARE)):
                    return await call()
        except (StoreUnavailable, ModelRefused, TimeoutError):
            self.degraded.add(store)
            # It may come back with other data.
            self._from.whole.doubt()
            return None
