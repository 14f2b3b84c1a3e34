"""Long-term memory as the other rooms see it, a tenant at a time. Never decides what is worth keeping or recalling."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime

from pydantic import SecretStr
from weaviate.classes.query import Sort

from perdure.errors import VectorIndexDamaged
from perdure.identity import object_uuid
from perdure.stores.weaviate import conditions
from perdure.stores.weaviate.conditions import Condition
from perdure.stores.weaviate.connection import Connection, answered_within
from perdure.stores.weaviate.earliest import bound
from perdure.stores.weaviate.erasures import WeaviateErasures
from perdure.stores.weaviate.mapping import KINDS, NEVER, Kind, micros
from perdure.stores.weaviate.marks import WeaviateMarks
from perdure.stores.weaviate.open_tenants import Active, OpenTenants
from perdure.stores.weaviate.queries import Queries
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.searches import Searches
from perdure.stores.weaviate.writes import Fence, Writes, never
from perdure.together import together
from perdure.values.assertions import ABOUT_AT_MOST, SHARING
from perdure.values.entries import Entry, Memory, State

_KIND_OF: dict[str, Kind] = {"exec": "record", "turn": "turn"}
"""By what an id begins with."""

_SEARCHED_AT_ONCE = 8
"""Searches for the statements of one batch at the same time."""

_COMPARED_AT_ONCE = 500
"""Entries of one comparison of what is stored with what is found by meaning."""


class LongTerm(Searches):
    """Every tenant's records and memories. One per process; opens when first asked.

    Every method raises StoreUnavailable when Weaviate does not answer in time. A tenant that was
    never written to is simply empty.

    Args:
        url: Weaviate's HTTP address.
        grpc_port: Its gRPC port on the same host.
        embedding: The model whose vectors it holds, and the language of its words.
        api_key: A key, if Weaviate wants one.
        prefix: What the collections' names begin with.
        query_timeout: Seconds that one question may take.
        write_timeout: Seconds after which ``put`` or ``delete`` reports to its caller that Weaviate does not answer.
            The write itself goes on for as long again.
        active: Knows which tenants are active, for all processes; without it, none is ever made inactive.
        most_active: How many may be, see ``resting.most_active``.
    """

    def __init__(
        self,
        url: str,
        grpc_port: int,
        *,
        embedding: Embedding,
        api_key: SecretStr | None = None,
        prefix: str = "Perdure",
        query_timeout: float = 3.0,
        write_timeout: float = 10.0,
        active: Active | None = None,
        most_active: int = 0,
    ) -> None:
        self._connection = Connection(url, grpc_port, embedding=embedding, api_key=api_key, prefix=prefix)
        super().__init__(Queries(self._connection, query_timeout), embedding.language)
        self._writes = Writes(self._connection, embedding=embedding, timeout=write_timeout)
        self.marks = WeaviateMarks(self._connection, query_timeout)
        self.erasures = WeaviateErasures(self._connection, query_timeout)
        self._any_vector = [1.0] * embedding.dimension
        self._resting = OpenTenants(self._connection, active, most_active) if active else None
        if self._resting:
            self._connection.used = self._resting.used
        self._timeout = query_timeout
        self.write_timeout = write_timeout

    async def prepare(self) -> None:
        """Bring the collections up to what this build needs: create them, or add the properties that they lack.

        A worker calls this when it starts; no write does.

        Raises:
            EmbeddingMismatch: They were made with another model.
            SchemaMismatch: What they have cannot be changed to what is needed; with what to do.
        """
        await self._connection.open(prepare=True)

    async def open(self) -> None:
        """Connect now, and check the collections.

        Raises:
            EmbeddingMismatch: They were made with another model.
            SchemaMismatch: Their words are stemmed in another language.
        """
        await self._connection.open()

    async def drop(self) -> None:
        """Delete all entries and the marks, so that Weaviate counts as lost and is rebuilt from the journal.

        Raises:
            StoreUnavailable: It does not answer; it is rebuilt all the same, or can be asked once more.
        """
        # Marks that stood beside empty collections would hide the loss: first for a crash in between, and once more for
        # a worker that started meanwhile.
        await self.marks.drop()
        await self._connection.drop()
        await self.marks.drop()

    async def close(self) -> None:
        """Close the connections, once the writes that are under way have ended."""
        await self._writes.ended()
        if self._resting:
            await self._resting.ended()
        await self._connection.close()

    async def put(
        self,
        tenant: str,
        entries: Sequence[Entry],
        vectors: Mapping[str, Sequence[float]],
        *,
        fence: Fence = never,
    ) -> None:
        """Write entries absolutely: what was stored under their ids before is gone.

        Args:
            tenant: Whose they are; made when this is the first write.
            entries: The whole entries.
            vectors: By id. An entry without one keeps the vector that it has.
            fence: Called before anything is sent; where it raises, nothing more is.

        Raises:
            VersionConflict: When an entry without a vector is not stored: somebody purged it.
            ContentRefused: When Weaviate refuses some of them for what is in them; the others are written.
            StoreUnavailable: When any of them was not written; some may have been.
        """
        await self._writes.put(tenant, entries, vectors, fence)

    async def delete(self, tenant: str, ids: Sequence[str], *, fence: Fence = never) -> None:
        """Remove entries for good; ``fence`` is called as for ``put``."""
        for kind, of_kind in _by_kind(ids).items():
            await self._writes.delete(tenant, kind, of_kind, fence)

    async def drop_tenant(self, tenant: str, *, fence: Fence = never) -> None:
        """Remove a tenant with all that it has; ``fence`` is called as for ``put``."""
        await self._writes.drop(tenant, fence)

    async def get(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that are there, whatever their state."""
        found = await together(
            *(
                self._queries.fetch(tenant, kind, conditions.identified(of_kind), limit=len(of_kind))
                for kind, of_kind in _by_kind(ids).items()
            )
        )
        return {entry.id: entry for entries in found for entry in entries}

    async def beginning(self, tenant: str, beginning: str, *, limit: int) -> list[str]:
        """Return the ids of memories that begin so, whatever the state of the memories.

        Args:
            tenant: Whose memories.
            beginning: Letters, digits and underscores.
            limit: How many at most.
        """
        found = await self._queries.fetch(tenant, "memory", conditions.beginning(beginning), limit=limit)
        return [entry.id for entry in found]

    async def stored(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that are there, whether or not any index has them: some 2 ms each, and so for repairs."""
        found = await together(
            *(
                self._queries.stored(tenant, kind, [object_uuid(tenant, identifier) for identifier in of_kind])
                for kind, of_kind in _by_kind(ids).items()
            )
        )
        return {entry.id: entry for entries in found for entry in entries}

    async def everything(self, tenant: str, *, kinds: Sequence[Kind] = KINDS) -> dict[str, Entry]:
        """Return all that is stored of a tenant, whatever its state."""
        found: dict[str, Entry] = {}
        for kind in kinds:
            async for entries in self._queries.entries(tenant, kind, page=_COMPARED_AT_ONCE):
                found |= {entry.id: entry for entry in entries}
        return found

    async def searchable(self, tenant: str, ids: Sequence[str]) -> dict[str, int]:
        """Return the versions of those of these entries that a search by meaning finds, which is what recall asks.

        A filter alone would find more: the vector index lacks what a write that was cut off has stored.
        """
        found = await together(*(self._indexed(tenant, kind, of_kind) for kind, of_kind in _by_kind(ids).items()))
        return {identifier: version for versions in found for identifier, version in versions.items()}

    async def unsearchable(self, tenant: str) -> list[str]:
        """Return the ids of the stored entries that no search by meaning finds."""
        missing: list[str] = []
        for kind in KINDS:
            async for ids in self._queries.ids(tenant, kind, page=_COMPARED_AT_ONCE):
                found = await self._indexed(tenant, kind, ids)
                missing += [identifier for identifier in ids if identifier not in found]
        return missing

    async def about(self, tenant: str, terms: Collection[str], statements: Collection[str] = ()) -> list[Memory]:
        """Return the memories, current or superseded, that assert something about one of these terms, the newest first.

        Where there are more than ``ABOUT_AT_MOST``, these are followed by those that share the rarest words with one of
        the statements to be compared with them.
        """
        if not terms:
            return []
        condition = _about(terms)
        newest = Sort.by_property("last_seen", ascending=False)
        found = await self._queries.fetch(tenant, "memory", condition, limit=ABOUT_AT_MOST, sort=newest)
        about = {entry.id: entry for entry in found if isinstance(entry, Memory)}
        if len(about) == ABOUT_AT_MOST:
            few = asyncio.Semaphore(_SEARCHED_AT_ONCE)

            async def sharing(text: str) -> list[Memory]:
                async with few:
                    return await self.sharing_words(tenant, text, limit=SHARING)

            others = await together(*map(sharing, sorted(statements)))
            about |= {memory.id: memory for memories in others for memory in memories if memory.id not in about}
        return list(about.values())

    async def count_about(self, tenant: str, terms: Collection[str]) -> int:
        """Return how many memories, current or superseded, assert something about one of these."""
        return await self._queries.count(tenant, "memory", _about(terms))

    async def due(self, tenant: str, *, before: datetime, limit: int) -> list[Entry]:
        """Return the entries due before a moment, most overdue first."""
        return await self._oldest(tenant, conditions.overdue(before), "forget_after", limit)

    async def dated_otherwise(self, tenant: str, *, rules_version: str, limit: int) -> list[Entry]:
        """Return entries that other rules than these dated, and that are not forgotten; in no particular order."""
        condition = conditions.dated_otherwise(rules_version)
        found = await together(*(self._queries.fetch(tenant, kind, condition, limit=limit) for kind in KINDS))
        return [entry for entries in found for entry in entries][:limit]

    async def purgeable(self, tenant: str, *, before: datetime, limit: int) -> list[Entry]:
        """Return the forgotten entries whose time to be undone ends before a moment, most overdue first."""
        return await self._oldest(tenant, conditions.past_purge(before), "purge_after", limit)

    async def count_due(self, tenant: str, *, before: datetime) -> Counter[str]:
        """Return how many entries are due before a moment, for each reason."""
        condition = conditions.overdue(before)
        found = await together(*(self._queries.counts(tenant, kind, condition, by="forget_reason") for kind in KINDS))
        return sum(found, Counter[str]())

    async def count_purgeable(self, tenant: str, *, before: datetime) -> int:
        """Return how many forgotten entries can no longer be restored after a moment."""
        return await self._count(tenant, conditions.past_purge(before))

    async def next_due(self, tenant: str) -> datetime | None:
        """Return the next moment at which an entry is due to be forgotten or purged."""
        asked = [(conditions.overdue, "forget_after"), (conditions.past_purge, "purge_after")]
        calls = [self._earliest(tenant, kind, condition, by) for condition, by in asked for kind in KINDS]
        return min((moment for moment in await together(*calls) if moment), default=None)

    async def count(self, tenant: str) -> int:
        """Return how many entries there are that are neither replaced nor forgotten.

        Those are counted: Weaviate knows the number of all, and reads each one that meets a condition.
        """
        others = conditions.state_is(State.SUPERSEDED, State.FORGOTTEN)
        everything, gone = await together(self.total(tenant), self._count(tenant, others))
        return everything - gone

    async def total(self, tenant: str) -> int:
        """Return how many entries there are, whatever their state."""
        return await self._count(tenant)

    async def tenants(self) -> list[str]:
        """Return every tenant that something was written for."""
        names: set[str] = set()
        for kind in KINDS:
            collection = await self._connection.collection(kind)
            async with answered_within(self._timeout):
                names |= set(await collection.tenants.get())
        return sorted(names)

    async def _indexed(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, int]:
        try:
            return await self._queries.indexed(tenant, kind, ids, self._any_vector)
        except VectorIndexDamaged:
            return {}

    async def is_up(self) -> bool:
        """Return whether Weaviate answers now."""
        return await self._connection.is_up()

    async def look_for_active(self) -> None:
        """Find the tenants that are active without being known to be; those used least are made inactive in time."""
        if self._resting:
            await self._resting.look()

    async def _count(self, tenant: str, condition: Condition | None = None) -> int:
        return sum(await together(*(self._queries.count(tenant, kind, condition) for kind in KINDS)))

    async def _earliest(
        self, tenant: str, kind: Kind, condition: Callable[[int], Condition], by: str
    ) -> datetime | None:
        async def any_until(before: int) -> bool:
            return bool(await self._queries.fetch(tenant, kind, condition(before), limit=1))

        before = await bound(any_until, datetime.now(UTC))
        if before is None:
            return None
        order = Sort.by_property(by, ascending=True)
        found = await self._queries.fetch(tenant, kind, condition(before), limit=1, sort=order)
        return next((getattr(entry, by) for entry in found), None)

    async def _oldest(self, tenant: str, condition: Condition, by: str, limit: int) -> list[Entry]:
        order = Sort.by_property(by, ascending=True)
        found = await together(
            *(self._queries.fetch(tenant, kind, condition, limit=limit, sort=order) for kind in KINDS)
        )
        moments = [(micros(getattr(entry, by)), entry) for entries in found for entry in entries]
        # "Never" is a moment to Weaviate, and is not due.
        due = sorted((pair for pair in moments if pair[0] < NEVER), key=lambda pair: pair[0])
        return [entry for _, entry in due[:limit]]


def _about(terms: Collection[str]) -> conditions.Condition:
    return conditions.state_is(State.CURRENT, State.SUPERSEDED) & conditions.about(sorted(terms))


def _by_kind(ids: Sequence[str]) -> dict[Kind, list[str]]:
    found: dict[Kind, list[str]] = {}
    for identifier in dict.fromkeys(ids):
        found.setdefault(_KIND_OF.get(identifier.partition("_")[0], "memory"), []).append(identifier)
    return found
