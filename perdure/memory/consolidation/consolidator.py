"""Finds memories that say the same, and merges them through the updater. What is the same is decided by duplicates."""

from datetime import datetime, timedelta

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import InvalidInput
from perdure.memory.consolidation.duplicates import SIMILAR, is_duplicate, kept_first
from perdure.memory.updates.updater import Updater
from perdure.model import Passed
from perdure.models.embedding import Embedder
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import Actor
from perdure.values.entries import Memory, headline_of
from perdure.values.filters import Filters
from perdure.values.updates import MemoryUpdate, Merger

_NEIGHBOURS = 10
"""Memories that are compared with each new one, the nearest."""

_PAGE = 200
"""New memories that one call looks at: some seconds."""

_LATE = timedelta(days=1)
"""How long after its acceptance an entry may be written and still count as new: stores may have been away."""

MOST = 100
"""Merges of one tenant that one call returns."""


class Pair(Passed):
    """Two memories that say the same."""

    first: str
    """The id of the one whose text stays."""
    second: str


class Duplicates(Passed):
    """What one look at a tenant has found, without content."""

    pairs: tuple[Pair, ...] = ()
    """No memory is in two of them."""
    after: str = ""
    """The id up to which it looked; empty: it looked at all."""


class Consolidator:
    """Consolidates memories.

    Args:
        longterm: Where they are.
        embedder: The model of its vectors.
        updater: Merges.
    """

    def __init__(self, *, longterm: LongTerm, embedder: Embedder, updater: Updater) -> None:
        self._longterm = longterm
        self._embedder = embedder
        self._updater = updater

    async def find(self, tenant: str, *, since: datetime | None, after: str, now: datetime) -> Duplicates:
        """Return pairs of memories that say the same, at least one of them new.

        Args:
            tenant: Whose.
            since: From when on a memory is new; None: all are.
            after: The id up to which an earlier call looked.
            now: The moment at which both must hold.

        Raises:
            StoreUnavailable: Weaviate, or the embedding model, does not answer.
        """
        everything = (await self._longterm.everything(tenant, kinds=("memory",))).values()
        memories = sorted((one for one in everything if isinstance(one, Memory)), key=lambda one: one.id)
        waiting = [one for one in memories if one.id > after and (since is None or one.newest[1] >= since - _LATE)]
        page, pairs, paired = waiting[:_PAGE], list[Pair](), set[str]()
        vectors = await self._embedder.embed([headline_of(one.text) for one in page])
        for memory, vector in zip(page, vectors, strict=True):
            hits = await self._longterm.search(
                tenant,
                text="",
                vector=vector,
                limit=_NEIGHBOURS,
                filters=Filters(now=now),
                kinds=("memory",),
                word_limit=0,
            )
            for hit in hits:
                other = hit.entry
                if not isinstance(other, Memory) or (hit.cosine or 0.0) < SIMILAR or not is_duplicate(memory, other):
                    continue
                if not paired & {memory.id, other.id}:
                    first, second = kept_first(memory, other)
                    pairs.append(Pair(first=first.id, second=second.id))
                    paired |= {memory.id, other.id}
            if len(pairs) >= MOST:
                return Duplicates(pairs=tuple(pairs), after=memory.id)
        return Duplicates(pairs=tuple(pairs), after=page[-1].id if len(waiting) > len(page) else "")

    async def merge(self, tenant: str, pair: Pair, *, operation: str, by: Actor, at: datetime) -> bool:
        """Merge two memories; returns False if one of them was changed meanwhile, so that it is impossible.

        Raises:
            TenantErased: The user was erased meanwhile.
            LeaseLost: Another writer holds the tenant: call it again.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        stored = await self._longterm.get(tenant, [pair.first, pair.second])
        one, other = stored.get(pair.first), stored.get(pair.second)
        begun = any(operation in entry.operations for entry in stored.values())
        if not begun and not (isinstance(one, Memory) and isinstance(other, Memory) and is_duplicate(one, other)):
            return False
        update = MemoryUpdate(id=pair.first, update=Merger(other=pair.second), by=by)
        try:
            await self._updater.update(tenant, update, operation=operation, at=at)
        except InvalidInput:
            return False
        reached(CrashPoint.CONSOLIDATE_MERGED)
        return True
