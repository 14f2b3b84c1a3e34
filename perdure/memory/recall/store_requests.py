"""One recall's requests to the stores, within one time limit, or else to the journal. Decides nothing of the answer."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence, Sized
from datetime import UTC, datetime
from typing import TypeVar

from perdure.errors import StoreUnavailable, VectorIndexDamaged
from perdure.memory.recall import local, sessions
from perdure.memory.recall.absences import What
from perdure.memory.recall.journal_fallback import journaled
from perdure.memory.recall.query import FoundBy, Query
from perdure.memory.recall.sources import Sought, Sources, Wanted
from perdure.memory.recall.turns import Asked, named, without_names
from perdure.models.embedding import Vector
from perdure.models.errors import ModelRefused
from perdure.stores.weaviate.mapping import Kind
from perdure.together import together
from perdure.values.consents import withdrawn, withheld
from perdure.values.entries import Entry, Hit, Memory, MemoryType, Purpose, Record, State
from perdure.values.episodes import Episode, permitted
from perdure.values.filters import Filters
from perdure.values.losses import Store
from perdure.values.strategies import Strategy
from perdure.words import stems

_T = TypeVar("_T")
_S = TypeVar("_S", bound=Sized)

_PINNED = 200
"""Pinned memories of a user that are looked at, the newest first. A choice: a fifth of a block holds fewer."""
_CONSTRAINTS = 1_000
"""Constraints that a structured recall returns besides its limit, the newest first. A choice: more than the
largest block holds, as what the block leaves out is counted."""
_CALLED = 200
"""Memories that are looked at for one name, the newest first. A choice: twice the largest limit."""
_COMPARING_SHARE = 0.4
"""Part of the time limit: if it is still unknown by then whether the store lost data, it is not asked. It is compared
every ten seconds, and after it was away."""
_WRITER_SHARE = 0.1
"""Part of the time limit: if Redis takes longer to say who wrote last, the store is asked, which is only slower."""
_EMBEDDING_SHARE = 0.4
"""Part of the time limit: if there is no vector by then, only words are searched."""
_STORES_SHARE = 0.75
"""Part of the time limit: what has not been answered by then is looked for on disk."""
_ALL_SHARE = 0.95
"""Part of the time limit: the rest is for putting the result together."""


class StoreRequests:
    """The questions of one recall, and which stores did not answer.

    Args:
        sources: What is asked.
        query: The question.
    """

    def __init__(self, sources: Sources, query: Query) -> None:
        self._from = sources
        self._query = query
        self._tenant = query.tenant
        self._started = asyncio.get_running_loop().time()
        self._entries: dict[str, Entry] | None = None
        self._sought: Sought | None = None
        self._withdrawn: tuple[Purpose, ...] = ()
        # Several searches may need the journal at once, or who wrote last; one asks.
        self._reading, self._looking = asyncio.Lock(), asyncio.Lock()
        self._last_writer: str | None = None
        self._looked = False
        self.degraded: set[str] = set()
        """The stores that did not answer."""
        self.seen: list[Hit] = []
        """What the searches for the result have found, whether or not it is in the result."""

    async def look_for_loss(self) -> None:
        """Answer from the journal where the store has lost data: it would answer too little, or what was forgotten."""
        lost = True
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout_at(self._started + self._from.limit * _COMPARING_SHARE):
                lost = await self._from.whole.lost(Store.WEAVIATE)
        if lost:
            self.degraded.add("weaviate")

    async def withheld(self) -> tuple[tuple[Purpose, ...], tuple[Purpose, ...]]:
        """Return the purposes that the user does not consent to, and those of them to report, as they were withdrawn.

        If neither store answers, nothing counts as consented to.
        """
        book = self._from.consents
        if book is None:
            return withheld({}), ()
        consents = await self._ask("redis", "consents", lambda: book.of(self._tenant))
        if consents is None:
            return tuple(Purpose), tuple(Purpose)
        found = withheld(consents)
        self._withdrawn = withdrawn(consents)
        return found, self._withdrawn

    def limited(self, query: Query) -> None:
        """Replace the question by its form once the user's consents are known."""
        self._query = query

    async def sought(self) -> Sought:
        """Return the question's names, words and vector; computed once."""
        if self._sought is None:
            self._sought = await self._asked()
        return self._sought

    async def _asked(self) -> Sought:
        query, up = self._query, self._is_up
        names = self._from.speakers.known(self._tenant) if up and query.filters.covers("turn") else Counter[str]()
        vector = None
        if names is None:
            # Most questions name nobody, so the whole question is embedded meanwhile.
            call = self._unless_none("speakers", lambda: self._from.speakers.of(self._tenant), Counter[str]())
            found, vector = await together(call, self._embedded(query.text))
            names = found or Counter[str]()
        asked = Asked(query.text, stems(query.text, self._from.longterm.language), named(query.text, names))
        if up and (vector is None or asked.names):
            vector = await self._embedded(without_names(query.text, asked.names))
        return Sought(asked, vector, names.total())

    async def hits(self, sought: Sought, wanted: Wanted) -> tuple[list[Hit], FoundBy]:
        """Return the hits of the store, or of the journal if it does not answer, and which of them answered."""

        async def search(vector: Vector | None) -> list[Hit]:
            return await self._from.longterm.search(
                self._tenant,
                text=self._query.text,
                vector=vector,
                limit=wanted.near,
                filters=self._query.filters,
                kinds=wanted.kinds,
                word_limit=wanted.words,
            )

        hits = await self._searched(search, sought.vector)
        if hits is not None:
            return hits, FoundBy.SEMANTIC
        entries = [one for one in (await self._recallable(self._query.filters)) if one.kind in wanted.kinds]
        return await self._by_words(entries), FoundBy.JOURNAL

    async def nearby(self, sought: Sought, *, limit: int, min_confidence: float) -> list[Hit]:
        """Return the entries near to the question regardless of its filters, including superseded ones."""

        async def search(vector: Vector | None) -> list[Hit]:
            return await self._from.longterm.nearby(
                self._tenant, text=self._query.text, vector=vector, limit=limit, min_confidence=min_confidence
            )

        hits = await self._searched(search, sought.vector)
        if hits is not None:
            return hits
        return await self._by_words(
            [
                entry
                for entry in (await self._local()).values()
                if entry.state in {State.CURRENT, State.SUPERSEDED} and entry.confidence >= min_confidence
            ]
        )

    async def lookup(self, limit: int) -> tuple[list[Record], FoundBy]:
        """Return the records in the query's lane and under its keys."""
        query = self._query
        if query.lane is None or Purpose.GIVEN in query.withheld:
            return [], FoundBy.EXACT
        # What is asked for by its key is a log, not a belief.
        filters, lane, keys = query.filters.changed(min_confidence=0.0), query.lane, query.keys

        async def fetch() -> list[Record]:
            find = self._from.longterm.lookup
            return await find(self._tenant, lane=lane, keys=keys, limit=limit, now=query.now, filters=filters)

        records = await self._stored("lookup", fetch)
        if records is not None:
            return records, FoundBy.EXACT
        entries = await self._recallable(filters)
        return local.exact(query, entries)[:limit], FoundBy.JOURNAL

    async def newest(self, kinds: Sequence[Kind], limit: int) -> list[Entry]:
        """Return the entries that meet the query's filters, of each kind the newest."""
        filters = self._query.filters

        async def fetch() -> list[Entry]:
            wanted: list[Kind] = [kind for kind in kinds if filters.covers(kind)]
            calls = [self._from.longterm.newest(self._tenant, kind, filters=filters, limit=limit) for kind in wanted]
            return [entry for entries in await together(*calls) for entry in entries]

        found = await self._stored("newest", fetch)
        if found is None:
            found = [entry for entry in await self._recallable(filters) if entry.kind in kinds]
        return found

    async def pinned(self) -> Sequence[Entry]:
        """Return the pinned memories within the query's filters, however much they are believed."""
        filters = self._query.filters.changed(min_confidence=0.0)
        find = self._from.longterm.pinned
        found = await self._unless_none("pinned", lambda: find(self._tenant, limit=_PINNED), [])
        if found is None:
            found = [one for one in (await self._local()).values() if isinstance(one, Memory) and one.pinned]
        return [entry for entry in found if filters.objection(entry) is None]

    async def constraints(self) -> Sequence[Entry]:
        """Return every constraint within the query's filters, the newest first; only a structured recall has them."""
        query = self._query
        if query.strategy is not Strategy.STRUCTURED or not query.filters.admits(MemoryType.CONSTRAINT):
            return []
        filters, find = query.filters.changed(memory_types=(MemoryType.CONSTRAINT,)), self._from.longterm.newest
        found = await self._stored(
            "constraints", lambda: find(self._tenant, "memory", filters=filters, limit=_CONSTRAINTS)
        )
        if found is None:
            known = [entry for entry in await self._recallable(filters) if isinstance(entry, Memory)]
            found = sorted(known, key=lambda entry: entry.newest, reverse=True)[:_CONSTRAINTS]
        return found

    async def called(
        self, labels: Collection[str], halves: Collection[str] = (), linked: Collection[str] = ()
    ) -> dict[str, Memory]:
        """Return the memories, current or superseded, that labels may mean or relations lead to, by id."""

        async def fetch() -> list[Memory]:
            find = self._from.longterm.called
            # Apart, so that what is only perhaps a misspelling takes no place of what is spelled right.
            exact = find(self._tenant, labels=labels, linked=linked, limit=_CALLED)
            near = find(self._tenant, labels=(), halves=halves, limit=_CALLED)
            return [memory for memories in await together(exact, near) for memory in memories]

        found = await self._stored("called", fetch)
        if found is None:
            known = (await self._local()).values()
            found = local.called([one for one in known if isinstance(one, Memory)], labels, halves, linked)
        return {memory.id: memory for memory in found}

    async def memories(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories of these ids, whatever their state."""
        if not ids:
            return {}
        found: Mapping[str, Entry] | None = await self._stored(
            "get", lambda: self._from.longterm.get(self._tenant, ids)
        )
        if found is None:
            known = await self._local()
            found = {identifier: known[identifier] for identifier in ids if identifier in known}
        return {identifier: entry for identifier, entry in found.items() if isinstance(entry, Memory)}

    async def episodes(self) -> list[Episode]:
        """Return what happened in the session, as far as it may be shown: the newest and the most important."""
        if Purpose.GIVEN in self._query.withheld:
            return []
        told, session = self._from.episodes.told, self._query.session
        recent, important = sessions.RECENT, sessions.IMPORTANT
        found = await self._ask(
            "redis", "episodes", lambda: told(self._tenant, session, recent=recent, important=important)
        )
        if found is None:
            waited = await self._ask_disk("spool", lambda: self._from.spool.read(self._tenant))
            found = sessions.waiting(waited.episodes if waited else (), self._query.session)
        if learned := sessions.learned(self._tenant, found):
            log = self._from.deletions.covering
            gone = await self._ask("redis", "deletions", lambda: log(self._tenant, sorted(learned)))
            found = sessions.unforgotten(found, learned, gone or {})
        return sorted(permitted(found, self._withdrawn), key=lambda episode: (episode.at, episode.id))

    @property
    def _is_up(self) -> bool:
        return "weaviate" not in self.degraded

    async def _stored(self, operation: str, call: Callable[[], Awaitable[_T]]) -> _T | None:
        """Ask the store; None: it does not answer."""
        return await self._ask("weaviate", operation, call) if self._is_up else None

    async def _unless_none(self, what: What, find: Callable[[], Awaitable[_S]], nothing: _S) -> _S | None:
        """Ask the store, unless it is known that there is nothing; None: it does not answer."""
        writer, absences = await self._writer() if self._is_up else None, self._from.absences
        if writer is not None and absences.known(self._tenant, what, writer):
            return nothing
        found = await self._stored(what, find)
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

    async def _searched(
        self, search: Callable[[Vector | None], Awaitable[list[Hit]]], vector: Vector | None
    ) -> list[Hit] | None:
        try:
            return await self._stored("search", lambda: search(vector))
        except VectorIndexDamaged:
            self.degraded.add("vectors")
            await self._ask("redis", "checks", lambda: self._from.checks.add(self._tenant, datetime.now(UTC)))
            return await self._stored("search", lambda: search(None))

    async def _embedded(self, text: str) -> Vector | None:
        end = self._started + self._from.limit * _EMBEDDING_SHARE
        vectors = await self._ask("embedding", "embed", lambda: self._from.embedder.embed([text]), end)
        return vectors[0] if vectors else None

    async def _by_words(self, entries: Sequence[Entry]) -> list[Hit]:
        text, language = self._query.text, self._from.longterm.language
        found = await self._ask_disk("journal", lambda: asyncio.to_thread(local.by_words, text, entries, language))
        return found or []

    async def _recallable(self, filters: Filters) -> list[Entry]:
        return [entry for entry in (await self._local()).values() if filters.objection(entry) is None]

    async def _local(self) -> dict[str, Entry]:
        async def read() -> dict[str, Entry]:
            log = self._ask("redis", "deletions", lambda: self._from.deletions.all(self._tenant))
            end = self._started + self._from.limit * _ALL_SHARE
            found = await journaled(self._from, self._query, log, end=end)
            if not found.is_all:
                self.degraded.add("journal")
            return found.entries

        async with self._reading:
            if self._entries is None:
                self._entries = await self._ask_disk("journal", read) or {}
            return self._entries

    async def _ask_disk(self, place: str, call: Callable[[], Awaitable[_T]]) -> _T | None:
        return await self._ask(place, "read", call, self._started + self._from.limit * _ALL_SHARE)

    async def _ask(
        self, store: str, operation: str, call: Callable[[], Awaitable[_T]], end: float | None = None
    ) -> _T | None:
        try:
            with self._from.telemetry.call(store, operation):
                async with asyncio.timeout_at(end or self._started + self._from.limit * _STORES_SHARE):
                    return await call()
        except (StoreUnavailable, ModelRefused, TimeoutError):
            self.degraded.add(store)
            # It may come back with other data.
            self._from.whole.doubt()
            return None
