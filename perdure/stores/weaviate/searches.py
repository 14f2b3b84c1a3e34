"""The questions that recall asks of long-term memory. Never writes, and never decides what is worth recalling."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from weaviate.classes.query import Sort

from perdure.stores.weaviate import conditions
from perdure.stores.weaviate.conditions import Condition
from perdure.stores.weaviate.mapping import KINDS, Kind
from perdure.stores.weaviate.queries import Queries, merged
from perdure.together import together
from perdure.values.entries import Entry, Lane, Memory, Record, State
from perdure.values.filters import Filters
from perdure.values.hits import Hit
from perdure.words import stems

_NEWEST = Sort.by_property("last_seen", ascending=False)


class _Sought(NamedTuple):
    text: str
    vector: Sequence[float] | None
    near: int
    words: int


class Searches:
    """Searches of one tenant's entries. A tenant that was never written to has none.

    Args:
        queries: Asks one collection.
        language: The language that words are stemmed in.
    """

    def __init__(self, queries: Queries, language: str) -> None:
        self._queries = queries
        self.language = language

    async def lookup(
        self,
        tenant: str,
        *,
        lane: Lane,
        keys: Sequence[str] = (),
        limit: int,
        now: datetime,
        filters: Filters | None = None,
    ) -> list[Record]:
        """Return the current records of a lane, most recently seen first; of one date, most recently recorded.

        Args:
            tenant: Whose.
            lane: Which log.
            keys: Under which keys; none means the whole lane.
            limit: How many at most.
            now: The moment at which they must still be valid.
            filters: What they must meet besides; None: nothing.
        """
        condition = conditions.meeting(filters or Filters(now=now), "record") & conditions.of_keys(lane, keys)
        newest = _NEWEST.by_property("recorded_at", ascending=False)
        found = await self._queries.fetch(tenant, "record", condition, limit=limit, sort=newest)
        return [entry for entry in found if isinstance(entry, Record)]

    async def search(
        self,
        tenant: str,
        *,
        text: str,
        vector: Sequence[float] | None,
        limit: int,
        filters: Filters,
        kinds: Collection[Kind] = KINDS,
        word_limit: int | None = None,
    ) -> list[Hit]:
        """Find entries by meaning and by words; in no particular order.

        Args:
            tenant: Whose.
            text: What to look for in words; by their stems.
            vector: The same as a vector; without one, only words are searched.
            limit: How many at most of each kind by each kind of search.
            filters: What they must meet.
            kinds: Which kinds of entries, of those that the filters cover.
            word_limit: How many at most of each kind by words; None: as many as by meaning.

        Raises:
            VectorIndexDamaged: Only words can be searched.
        """
        meeting: dict[Kind, Condition] = {
            kind: conditions.meeting(filters, kind) for kind in kinds if filters.covers(kind)
        }
        sought = _Sought(text, vector, limit, limit if word_limit is None else word_limit)
        return await self._search(tenant, sought, meeting)

    async def nearby(
        self, tenant: str, *, text: str, vector: Sequence[float] | None, limit: int, min_confidence: float
    ) -> list[Hit]:
        """Find entries by meaning and by words whatever they are limited to, the superseded ones too.

        Raises:
            VectorIndexDamaged: Only words can be searched.
        """
        condition = conditions.state_is(State.CURRENT, State.SUPERSEDED) & conditions.believed(min_confidence)
        meeting = dict.fromkeys(KINDS, condition)
        return await self._search(tenant, _Sought(text, vector, limit, limit), meeting)

    async def newest(self, tenant: str, kind: Kind, *, filters: Filters, limit: int) -> list[Entry]:
        """Return the entries of a kind that meet the filters, most recently seen first."""
        if not filters.covers(kind):
            return []
        condition = conditions.meeting(filters, kind)
        return await self._queries.fetch(tenant, kind, condition, limit=limit, sort=_NEWEST)

    async def pinned(self, tenant: str, *, limit: int) -> list[Entry]:
        """Return the pinned memories that were not replaced or forgotten, most recently seen first."""
        # No more is asked of them here: most recalls ask this, and with all filters it takes 1.1 ms instead of .7
        # (measured on 10,000 memories).
        return await self._queries.fetch(tenant, "memory", conditions.pinned(), limit=limit, sort=_NEWEST)

    async def called(
        self,
        tenant: str,
        *,
        labels: Collection[str],
        halves: Collection[str] = (),
        linked: Collection[str] = (),
        limit: int,
    ) -> list[Memory]:
        """Return the memories, current or superseded, that labels may mean, most recently seen first.

        Args:
            tenant: Whose.
            labels: What they may be called.
            halves: The halves of what they may be called (``labels.halves``): of these, some are called otherwise.
            linked: What they may be linked to by a relation.
            limit: How many at most.
        """
        if not (labels or halves or linked):
            return []
        condition = conditions.called(labels=labels, halves=halves, linked=linked)
        found = await self._queries.fetch(tenant, "memory", condition, limit=limit, sort=_NEWEST)
        return [entry for entry in found if isinstance(entry, Memory)]

    async def sharing_words(self, tenant: str, text: str, *, limit: int) -> list[Memory]:
        """Return the current memories that share the rarest words with a text."""
        wanted = " ".join(stems(text, self.language))
        if not wanted:
            return []
        current = conditions.state_is(State.CURRENT)
        found = merged((), await self._queries.by_words(tenant, "memory", wanted, current, limit=limit))
        return [hit.entry for hit in found if isinstance(hit.entry, Memory)]

    async def speakers(self, tenant: str) -> Counter[str]:
        """Return how many current turns there are of each speaker."""
        return await self._queries.counts(tenant, "turn", conditions.state_is(State.CURRENT), by="speaker")

    async def _search(self, tenant: str, sought: _Sought, meeting: Mapping[Kind, Condition]) -> list[Hit]:
        vector, wanted = sought.vector, " ".join(stems(sought.text, self.language))
        near = (
            []
            if vector is None
            else [self._queries.near(tenant, kind, vector, one, limit=sought.near) for kind, one in meeting.items()]
        )
        words = [
            self._queries.by_words(tenant, kind, wanted, one, limit=sought.words)
            for kind, one in meeting.items()
            if wanted
        ]
        found = await together(*near, *words)
        return merged(chain(*found[: len(near)]), chain(*found[len(near) :]))
