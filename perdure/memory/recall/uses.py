"""Notes recalled entries as used, after the answer. Never changes an entry: a workflow counts the notes later."""

import asyncio
import contextlib

from perdure.errors import StoreUnavailable
from perdure.memory.recall.query import Query, RecallResult
from perdure.stores.redis.accesses import Accesses


class Uses:
    """The uses that recalls of this process make of entries.

    Args:
        accesses: Where they are noted; None: nowhere.
    """

    def __init__(self, accesses: Accesses | None) -> None:
        self._accesses = accesses
        self._noting: set[asyncio.Task[None]] = set()

    def add(self, query: Query, result: RecallResult) -> None:
        """Note what was recalled, unless the query only reads; nobody waits for it."""
        if self._accesses is None or query.only_reads or not result.items:
            return
        noting = asyncio.create_task(self._note(self._accesses, query, [item.id for item in result.items]))
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)

    async def settled(self) -> None:
        """Wait until everything so far is noted."""
        await asyncio.gather(*self._noting)

    @staticmethod
    async def _note(accesses: Accesses, query: Query, ids: list[str]) -> None:
        # If Redis does not answer, only one use is lost.
        with contextlib.suppress(StoreUnavailable):
            await accesses.add(query.tenant, ids, query.now)
