"""The questions that a read asks of one collection."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast
from uuid import UUID

from grpc import StatusCode
from grpc.aio import AioRpcError
from weaviate.classes.aggregate import GroupByAggregate
from weaviate.classes.query import MetadataQuery
from weaviate.exceptions import WeaviateQueryError

from perdure.errors import StoreUnavailable, VectorIndexDamaged
from perdure.stores.weaviate import conditions
from perdure.stores.weaviate.conditions import Condition
from perdure.stores.weaviate.connection import NO_FILES, Connection, MissingTenant, answered_within, stored_at
from perdure.stores.weaviate.mapping import RETURNED, WORDS, Kind, entry_from
from perdure.together import together
from perdure.values.entries import Entry
from perdure.values.hits import Hit

_MOST = 10_000
"""Weaviate's own bound on one answer."""

_WORDS_AT_LEAST = 100
"""Entries that a search by words is asked for at least. While what was written is not flushed, Weaviate before 1.36.19
and 1.37.10 fills its list with the first that share any word, whatever comes after them (its pull request 11780; of 60
fresh memories, the only one with the rarest word was missed at 20, measured). Of 1,450 turns, 100 instead of 30 take
2 to 3 ms longer, and 200 take 7 (measured)."""

_AT_ONCE = 16
"""Questions about single objects that wait at the same time."""

_ANSWERS = {StatusCode.UNKNOWN, StatusCode.INTERNAL}
"""The statuses of errors that are no matter of time, load or the connection."""

_DISTANCE = MetadataQuery(distance=True)
_SCORE = MetadataQuery(score=True)


class Row(NamedTuple):
    """One object as one search returned it. It is parsed later, because the other search may have found it too."""

    uuid: int
    """Weaviate's id, as a number: it is hashed in a tenth of the time."""
    kind: Kind
    text: str
    document: str
    score: float
    words: str


def merged(by_meaning: Iterable[Row], by_words: Iterable[Row]) -> list[Hit]:
    """Return one hit for each object that either search found."""
    near, words = {row.uuid: row for row in by_meaning}, {row.uuid: row for row in by_words}
    hits: list[Hit] = []
    for uuid, row in {**words, **near}.items():
        hits.append(
            Hit(
                partial(entry_from, row.kind, row.text, row.document, row.uuid),
                cosine=near[uuid].score if uuid in near else None,
                bm25=words[uuid].score if uuid in words else None,
                words=row.words,
            )
        )
    return hits


class Queries:
    """Questions about one tenant's entries of one kind. A tenant that does not exist has none.

    Args:
        connection: The connection to ask through.
        timeout: Seconds that one question may take.
    """

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout

    async def fetch(
        self, tenant: str, kind: Kind, condition: Condition, *, limit: int, sort: Any = None
    ) -> list[Entry]:
        """Return the entries that meet a condition."""
        collection = await self._connection.of(tenant, kind)
        try:
            async with answered_within(self._timeout):
                found = await collection.query.fetch_objects(
                    filters=condition, limit=min(limit, _MOST), sort=sort, return_properties=RETURNED
                )
        except MissingTenant:
            return []
        return [_entry(kind, item) for item in found.objects]

    async def stored(self, tenant: str, kind: Kind, uuids: Sequence[str]) -> list[Entry]:
        """Return what is stored under these ids of Weaviate's, whether or not any index has it."""
        collection, few = await self._connection.of(tenant, kind), asyncio.Semaphore(_AT_ONCE)

        async def stored(uuid: str) -> list[Entry]:
            async with few, answered_within(self._timeout):
                found = await stored_at(collection, UUID(uuid), RETURNED)
            return [] if found is None else [_entry(kind, found)]

        try:
            return [entry for found in await together(*map(stored, uuids)) for entry in found]
        except MissingTenant:
            return []

    async def ids(self, tenant: str, kind: Kind, *, page: int) -> AsyncGenerator[list[str]]:
        """Yield the ids of everything that is stored, a page at a time, whether or not any index has it."""
        async for objects in self._pages(tenant, kind, page, ["identifier"]):
            yield [cast("str", item.properties["identifier"]) for item in objects]

    async def entries(self, tenant: str, kind: Kind, *, page: int) -> AsyncGenerator[list[Entry]]:
        """Yield everything that is stored, in the same way."""
        async for objects in self._pages(tenant, kind, page, RETURNED):
            yield [_entry(kind, item) for item in objects]

    async def _pages(self, tenant: str, kind: Kind, page: int, properties: list[str]) -> AsyncGenerator[list[Any]]:
        collection, after = await self._connection.of(tenant, kind), None
        while True:
            try:
                async with answered_within(self._timeout):
                    found = await collection.query.fetch_objects(limit=page, after=after, return_properties=properties)
            except MissingTenant:
                return
            if not found.objects:
                return
            yield found.objects
            after = found.objects[-1].uuid

    async def indexed(self, tenant: str, kind: Kind, ids: Sequence[str], vector: Sequence[float]) -> dict[str, int]:
        """Return the versions of those of these entries that are in the vector index, and in those of recall's filters.

        A search by any vector finds them all where its filter leaves no others. It also finds an entry whose own
        vector was lost with the end of Weaviate's log, and takes it for exactly what is looked for, whatever that is
        (read in 1.35.2, and measured: after a SIGKILL, 3 such entries were the first answers to every question).

        Args:
            tenant: Whose.
            kind: Of which kind they are.
            ids: Which.
            vector: One that no entry has.
        """
        condition = conditions.identified(ids) & conditions.filterable(kind)
        found = await self._near(tenant, kind, vector, condition, limit=len(ids), properties=["identifier", "version"])
        return {
            cast("str", item.properties["identifier"]): int(item.properties["version"])
            for item in found
            if item.metadata.distance != 0.0
        }

    async def near(
        self, tenant: str, kind: Kind, vector: Sequence[float], condition: Condition, *, limit: int
    ) -> list[Row]:
        """Return the entries nearest to a vector, nearest first.

        Raises:
            VectorIndexDamaged: Weaviate cannot search the tenant's vectors, although something is stored.
        """
        found = await self._near(tenant, kind, vector, condition, limit=limit, properties=_returned(kind))
        return [_row(kind, item, 1.0 - (item.metadata.distance or 0.0)) for item in found]

    async def by_words(self, tenant: str, kind: Kind, text: str, condition: Condition, *, limit: int) -> list[Row]:
        """Return the entries that share the rarest words with a text of stems, best first.

        Of more than 100 that share any of them and were written within seconds, the best may be missing.
        """
        if not limit:
            return []
        collection = await self._connection.of(tenant, kind)
        try:
            async with answered_within(self._timeout):
                found = await collection.query.bm25(
                    query=text,
                    query_properties=[WORDS],
                    limit=max(limit, _WORDS_AT_LEAST),
                    filters=condition,
                    return_properties=_returned(kind),
                    return_metadata=_SCORE,
                )
        except MissingTenant:
            return []
        return [_row(kind, item, item.metadata.score or 0.0) for item in found.objects[:limit]]

    async def count(self, tenant: str, kind: Kind, condition: Condition | None = None) -> int:
        """Return how many entries meet a condition; without one, how many are stored."""
        collection = await self._connection.of(tenant, kind)
        try:
            async with answered_within(self._timeout):
                answer = await collection.aggregate.over_all(filters=condition, total_count=True)
        except MissingTenant:
            return 0
        return answer.total_count or 0

    async def counts(self, tenant: str, kind: Kind, condition: Condition, *, by: str) -> Counter[str]:
        """Return how many entries meet a condition, for each value of a property."""
        collection = await self._connection.of(tenant, kind)
        try:
            async with answered_within(self._timeout):
                answer = await collection.aggregate.over_all(
                    filters=condition, group_by=GroupByAggregate(prop=by), total_count=True
                )
        except MissingTenant:
            return Counter()
        return Counter({str(group.grouped_by.value): group.total_count or 0 for group in answer.groups})

    async def _near(
        self,
        tenant: str,
        kind: Kind,
        vector: Sequence[float],
        condition: Condition,
        *,
        limit: int,
        properties: Sequence[str],
    ) -> Sequence[Any]:
        collection = await self._connection.of(tenant, kind)
        try:
            async with answered_within(self._timeout):
                found = await collection.query.near_vector(
                    near_vector=vector,
                    limit=limit,
                    filters=condition,
                    return_properties=list(properties),
                    return_metadata=_DISTANCE,
                )
        except MissingTenant:
            return []
        except StoreUnavailable as error:
            # A tenant whose first write was cut off answers every search by vector with an error, whether or not
            # anything of that write was stored (measured on 1.35.2: "quantizer not initialized").
            if not _is_answer(error.__cause__):
                raise
            if await self.count(tenant, kind) == 0:
                return []
            raise VectorIndexDamaged(f"Weaviate cannot search the vectors of a user's {kind} entries") from error
        return found.objects


def _is_answer(error: BaseException | None) -> bool:
    """Return whether Weaviate answered a query with an error of its own making.

    What it answers for want of files, or because it stops or takes too long, says nothing about an index. Where its
    client has retried in vain, Weaviate did not answer, and that error has no status.
    """
    if not isinstance(error, WeaviateQueryError) or NO_FILES in str(error):
        return False
    cause = error.__cause__ or error.__context__
    return isinstance(cause, AioRpcError) and cause.code() in _ANSWERS


def _returned(kind: Kind) -> list[str]:
    """Return the properties of a hit: only turns are ranked by their words."""
    return [*RETURNED, WORDS] if kind == "turn" else RETURNED


def _entry(kind: Kind, item: Any) -> Entry:
    return entry_from(kind, item.properties["text"], item.properties["document"], item.uuid.int)


def _row(kind: Kind, item: Any, score: float) -> Row:
    found = item.properties
    return Row(item.uuid.int, kind, found["text"], found["document"], score, found.get(WORDS) or "")
