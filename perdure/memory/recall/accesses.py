"""Notes recalled entries as used, after the answer. Never changes an entry: a workflow counts the notes later."""

import asyncio
import contextlib

from perdure.errors import PerdureError, StoreUnavailable, TenantErased
from perdure.memory.recall.query import Query, RecallResult
from perdure.stores.redis.accesses import Accesses


class AccessNotes:
    """The uses that recalls of this process make of entries.

    Args:
        accesses: Where they are noted; None: nowhere.
        patience: Seconds that a recall waits for Redis before it is not noted.
    """

    def __init__(self, accesses: Accesses | None, patience: float) -> None:
        self._accesses = accesses
        self._patience = patience
        self._noting: set[asyncio.Task[None]] = set()

    async def epoch(self, query: Query) -> int | None:
        """Return the tenant's epoch before anything is looked for; None: nothing will be noted."""
        if self._accesses is None or query.only_reads:
            return None
        # If Redis does not answer, only one use is lost.
        with contextlib.suppress(PerdureError, TimeoutError):
            async with asyncio.timeout(self._patience):
                return await self._accesses.epoch(query.tenant)
        return None

    def add(self, query: Query, result: RecallResult, epoch: int | None) -> None:
        """Note what was recalled under an epoch; nobody waits for it."""
        if self._accesses is None or epoch is None or not result.items:
            return
        noting = asyncio.create_task(self._note(self._accesses, query, [item.id for item in result.items], epoch))
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)

    async def settled(self) -> None:
        """Wait until everything so far is noted."""
        await asyncio.gather(*self._noting)

    @staticmethod
    async def _note(accesses: Accesses, query: Query, ids: list[str], epoch: int) -> None:
        with contextlib.suppress(StoreUnavailable, TenantErased):
            await accesses.add(query.tenant, ids, query.now, epoch=epoch)
