"""One recall's requests to the stores, within one time limit, or else to the journal. Decides nothing of the answer."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence, Sized
from datetime import UTC, datetime
from typing import TypeVar

from perdure.errors import StoreUnavailable, VectorIndexDamaged
from perdure.memory.recall import local
from perdure.memory.recall.happened import InSession, happened
from perdure.memory.recall.journal_fallback import journaled
from perdure.memory.recall.query import FoundBy, Query
from perdure.memory.recall.related_memories import Overridden
from perdure.memory.recall.sources import Sought, Sources, Wanted
from perdure.memory.recall.timed_calls import ALL_SHARE, TimedCalls
from perdure.memory.recall.turns import Asked, named, without_names
from perdure.models.embedding import Vector
from perdure.stores.weaviate.mapping import Kind
from perdure.together import together
from perdure.values.consents import withdrawn, withheld
from perdure.values.entries import Entry, Memory, MemoryType, Purpose, Record, State
from perdure.values.filters import Filters, Omission
from perdure.values.hits import Hit
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
_EMBEDDING_SHARE = 0.4
"""Part of the time limit: if there is no vector by then, only words are searched."""


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
        self._calls = TimedCalls(sources, query.tenant)
        self._entries: dict[str, Entry] | None = None
        self._sought: Sought | None = None
        self._withdrawn: tuple[Purpose, ...] = ()
        # Several searches may need the journal at once; one reads it.
        self._reading = asyncio.Lock()
        self._overridden = Overridden(self._stored)
        self.seen: list[Hit] = []
        """What the searches for the result have found, whether or not it is in the result."""

    @property
    def degraded(self) -> set[str]:
        """The stores that did not answer."""
        return self._calls.degraded

    async def look_for_loss(self) -> None:
        """Answer from the journal where the store has lost data: it would answer too little, or what was forgotten."""
        lost = True
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout_at(self._calls.end(_COMPARING_SHARE)):
                lost = await self._from.whole.lost(Store.WEAVIATE)
        if lost:
            self._calls.degraded.add("weaviate")

    async def withheld(self) -> tuple[tuple[Purpose, ...], tuple[Purpose, ...]]:
        """Return the purposes that the user does not consent to, and those of them to report, as they were withdrawn.

        If neither store answers, nothing counts as consented to.
        """
        book = self._from.consents
        if book is None:
            return withheld({}), ()
        consents = await self._calls.ask("redis", "consents", lambda: book.of(self._tenant))
        if consents is None:
            self._calls.degraded.add("consents")
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
        query, up = self._query, self._calls.is_up
        names = self._from.speakers.known(self._tenant) if up and query.filters.covers("turn") else Counter[str]()
        vector = None
        if names is None:
            # Most questions name nobody, so the whole question is embedded meanwhile.
            call = self._calls.unless_none("speakers", lambda: self._from.speakers.of(self._tenant), Counter[str]())
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
            if "memory" in wanted.kinds:
                await self._judge(hit.entry for hit in hits)
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
            await self._judge(hit.entry for hit in hits)
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

        records = await self._calls.stored("lookup", fetch)
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

        found = await self._calls.stored("newest", fetch)
        if found is None:
            return [entry for entry in await self._recallable(filters) if entry.kind in kinds]
        await self._judge(found)
        return found

    async def pinned(self) -> Sequence[Entry]:
        """Return the pinned memories within the query's filters, however much they are believed; exact: none."""
        if self._query.is_exact:
            return []
        filters = self._query.filters.changed(min_confidence=0.0)
        find = self._from.longterm.pinned
        found = await self._calls.unless_none("pinned", lambda: find(self._tenant, limit=_PINNED), [])
        if found is None:
            found = [one for one in (await self._local()).values() if isinstance(one, Memory) and one.pinned]
        await self._judge(found)
        return [entry for entry in found if self.objection(entry, filters) is None]

    async def constraints(self) -> Sequence[Entry]:
        """Return every constraint within the query's filters, the newest first; only a structured recall has them."""
        query = self._query
        if query.strategy is not Strategy.STRUCTURED or not query.filters.admits(MemoryType.CONSTRAINT):
            return []
        filters, find = query.filters.changed(memory_types=(MemoryType.CONSTRAINT,)), self._from.longterm.newest
        found = await self._calls.stored(
            "constraints", lambda: find(self._tenant, "memory", filters=filters, limit=_CONSTRAINTS)
        )
        if found is None:
            known = [entry for entry in await self._recallable(filters) if isinstance(entry, Memory)]
            return sorted(known, key=lambda entry: entry.newest, reverse=True)[:_CONSTRAINTS]
        await self._judge(found)
        return [entry for entry in found if self.objection(entry, filters) is None]

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

        found = await self._calls.stored("called", fetch)
        if found is None:
            known = (await self._local()).values()
            found = local.called([one for one in known if isinstance(one, Memory)], labels, halves, linked)
        await self._judge(found)
        return {memory.id: memory for memory in found}

    async def memories(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories of these ids, whatever their state."""
        found = await self._read(ids)
        await self._judge(found.values())
        return {identifier: entry for identifier, entry in found.items() if isinstance(entry, Memory)}

    def objection(self, entry: Entry, filters: Filters | None = None) -> Omission | None:
        """Return why an entry that was found is not recalled; None: it is.

        Args:
            entry: The entry.
            filters: What it must meet; None: the question's filters.
        """
        objection = (filters or self._query.filters).objection(entry)
        return Omission.OVERRIDDEN if objection is None and entry.id in self._overridden.ids else objection

    async def _read(self, ids: Sequence[str]) -> Mapping[str, Entry]:
        if not ids:
            return {}
        found: Mapping[str, Entry] | None = await self._calls.stored(
            "get", lambda: self._from.longterm.get(self._tenant, ids)
        )
        if found is None:
            known = await self._local()
            found = {identifier: known[identifier] for identifier in ids if identifier in known}
        return found

    def counts(self, entry: Entry) -> bool:
        """Return whether an entry that was found is recalled."""
        return self.objection(entry) is None

    async def _judge(self, entries: Iterable[Entry]) -> None:
        """Find out which of the memories that were found something temporary overrides."""
        await self._overridden.judge(entries, self._query.filters, is_all="journal" not in self.degraded)

    async def _stored(self, ids: Sequence[str]) -> Mapping[str, Entry]:
        """Return the entries that are there, whether or not the index of ids has them."""
        found = await self._read(ids)
        missing = [one for one in ids if one not in found]
        if not (missing and self._calls.is_up):
            return found
        return {
            **found,
            **(await self._calls.stored("get", lambda: self._from.longterm.stored(self._tenant, missing)) or {}),
        }

    async def happened(self) -> InSession:
        """Return what happened in the session, as far as it may be shown."""
        return await happened(self._from, self._calls, self._query, self._withdrawn)

    async def _searched(
        self, search: Callable[[Vector | None], Awaitable[list[Hit]]], vector: Vector | None
    ) -> list[Hit] | None:
        try:
            return await self._calls.stored("search", lambda: search(vector))
        except VectorIndexDamaged:
            self._calls.degraded.add("vectors")
            await self._calls.ask("redis", "checks", lambda: self._from.checks.add(self._tenant, datetime.now(UTC)))
            return await self._calls.stored("search", lambda: search(None))

    async def _embedded(self, text: str) -> Vector | None:
        end = self._calls.end(_EMBEDDING_SHARE)
        vectors = await self._calls.ask("embedding", "embed", lambda: self._from.embedder.embed([text]), end)
        return vectors[0] if vectors else None

    async def _by_words(self, entries: Sequence[Entry]) -> list[Hit]:
        text, language = self._query.text, self._from.longterm.language
        found = await self._calls.ask_disk(
            "journal", lambda: asyncio.to_thread(local.by_words, text, entries, language)
        )
        return found or []

    async def _recallable(self, filters: Filters) -> list[Entry]:
        known = (await self._local()).values()
        await self._judge(known)
        return [entry for entry in known if self.objection(entry, filters) is None]

    async def _local(self) -> dict[str, Entry]:
        async def read() -> dict[str, Entry]:
            log = self._calls.ask("redis", "deletions", lambda: self._from.deletions.all(self._tenant))
            end = self._calls.end(ALL_SHARE)
            found = await journaled(self._from, self._query, log, end=end)
            if not found.is_all:
                self._calls.degraded.add("journal")
            return found.entries

        async with self._reading:
            if self._entries is None:
                self._entries = await self._calls.ask_disk("journal", read) or {}
            return self._entries
