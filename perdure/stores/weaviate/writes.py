"""Absolute writes and deletions of one tenant's entries. Never reads what it does not need to keep.

A write runs to its end whatever becomes of its caller: Weaviate stores the objects of a batch that was cut off, but
leaves them out of the vector index, for good (measured on 1.35.2: of 16 batches that were cut off and stored all the
same, 9 were missing from it in part or whole).
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar, cast

from weaviate.classes.data import DataObject
from weaviate.classes.tenants import TenantActivityStatus
from weaviate.collections import CollectionAsync
from weaviate.exceptions import WeaviateBaseError

from perdure.errors import StoreUnavailable, VersionConflict
from perdure.identity import object_uuid
from perdure.plurals import counted
from perdure.refusals import ContentRefused
from perdure.stores.weaviate import conditions
from perdure.stores.weaviate.connection import STORE, Connection, MissingTenant, answered_within
from perdure.stores.weaviate.mapping import KINDS, Kind, properties_of
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.verdicts import refusal, refusal_of_call
from perdure.values.entries import Entry

_OBJECTS_A_WRITE = 200

# The client logs objects that are refused whole, as a dictionary: with all that somebody has said.
logging.getLogger("weaviate-client").addFilter(lambda record: not isinstance(record.msg, dict))

_T = TypeVar("_T")

Vectors = Mapping[str, Sequence[float]]


Fence = Callable[[], None]
"""Raises where it is too late for a write to be sent."""


def never() -> None:
    """Let a write be sent whenever it is ready: nobody else writes."""


class Writes:
    """Everything that changes the collections' content.

    Args:
        connection: The connection to write through.
        dimension: How many numbers every vector has.
        timeout: Seconds that a caller waits for one write, as a whole. A write that takes longer is cut off after twice
            that time, while its writer still holds the lease.
    """

    def __init__(self, connection: Connection, *, embedding: Embedding, timeout: float) -> None:
        self._connection = connection
        self._embedding = embedding
        self._timeout = timeout
        self._running: set[asyncio.Task[None]] = set()

    async def ended(self) -> None:
        """Wait until no write is under way."""
        if self._running:
            await asyncio.wait(self._running)

    async def put(self, tenant: str, entries: Sequence[Entry], vectors: Vectors, fence: Fence) -> None:
        """Write whole entries; one without a vector keeps the vector that it has.

        Raises:
            ContentRefused: Weaviate refuses some of them for what is in them; it has taken the others.
        """
        collections = {kind: await self._connection.of(tenant, kind) for kind in KINDS}
        refused: dict[str, str] = {}

        async def write() -> None:
            for kind in KINDS:
                of_kind = [entry for entry in entries if entry.kind == kind]
                for chunk in _chunks(of_kind):
                    refused.update(await self._insert(collections[kind], tenant, chunk, vectors, fence))

        try:
            await self._to_its_end(write())
            if refused:
                raise ContentRefused(refused)
        except MissingTenant as error:
            # A write makes the tenant; only the question for the vectors it should have can miss it.
            raise VersionConflict("the entries are no longer there to be changed") from error

    async def delete(self, tenant: str, kind: Kind, ids: Sequence[str], fence: Fence) -> None:
        """Remove entries for good."""
        collection = await self._connection.of(tenant, kind)

        async def write() -> None:
            for chunk in _chunks(ids):
                fence()
                result = await collection.data.delete_many(where=conditions.identified(chunk))
                if result.failed:
                    raise StoreUnavailable(STORE, f"{result.failed} objects were not deleted")
                if result.successful < len(chunk):
                    # The index that the filter asks may lack what a server that was killed has stored.
                    for identifier in chunk:
                        await collection.data.delete_by_id(object_uuid(tenant, identifier))

        try:
            await self._to_its_end(write())
        except MissingTenant:
            return

    async def drop(self, tenant: str, fence: Fence) -> None:
        """Remove a tenant."""
        for kind in KINDS:
            collection = await self._connection.collection(kind)
            async with answered_within(self._timeout):
                found = await collection.tenants.get_by_name(tenant)
                if found and found.activity_status is not TenantActivityStatus.ACTIVE:
                    # An inactive one has left its folder behind in some versions (weaviate#8889).
                    await collection.tenants.activate(tenant)
                fence()
                await collection.tenants.remove([tenant])

    async def _to_its_end(self, write: Coroutine[Any, Any, None]) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(2 * self._timeout):
                await write

        running = asyncio.create_task(bounded())
        self._running.add(running)
        running.add_done_callback(self._forget)
        try:
            async with answered_within(self._timeout):
                await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait({running})
            raise

    def _forget(self, write: asyncio.Task[None]) -> None:
        self._running.discard(write)
        # Its caller may be gone, and asyncio complains of an error that nobody has looked at.
        if not write.cancelled():
            write.exception()

    async def _insert(
        self,
        collection: CollectionAsync[Any, Any],
        tenant: str,
        entries: Sequence[Entry],
        vectors: Vectors,
        fence: Fence,
    ) -> dict[str, str]:
        """Write entries of one kind; returns why Weaviate refuses some of them, by id."""
        bare = [entry.id for entry in entries if entry.id not in vectors]
        known = {**vectors, **await _stored_vectors(collection, bare)}
        if lost := [identifier for identifier in bare if identifier not in known]:
            raise VersionConflict(f"no longer there to be changed: {counted(len(lost), 'entry')}")
        objects = [
            DataObject(
                uuid=object_uuid(tenant, entry.id),
                properties=properties_of(entry, self._embedding.language),
                vector=self._checked(known[entry.id]),
            )
            for entry in entries
        ]
        refused = await _sent(collection, objects, fence)
        return {entry.id: refused[place] for place, entry in enumerate(entries) if place in refused}

    def _checked(self, vector: Sequence[float]) -> Sequence[float]:
        if len(vector) != self._embedding.dimension:
            raise ValueError(f"a vector has {len(vector)} numbers, not {self._embedding.dimension}")
        return vector


async def _sent(
    collection: CollectionAsync[Any, Any], objects: Sequence[DataObject[Any, Any]], fence: Fence
) -> dict[int, str]:
    """Write objects in one call; returns why Weaviate refuses some of them, by their places.

    Raises:
        StoreUnavailable: Some were not written, which may pass.
    """
    fence()
    names = frozenset({collection.name, *(name for one in objects for name in one.properties)})
    try:
        result = await collection.data.insert_many(objects)
    except WeaviateBaseError as error:
        reason = refusal_of_call(error, names=names)
        if reason is None:
            raise
        if len(objects) == 1:
            return {0: reason}
        # It may be one of them that has the whole call refused, or each for a reason of its own.
        alone = [await _sent(collection, [one], fence) for one in objects]
        return {place: found[0] for place, found in enumerate(alone) if found}
    refused: dict[int, str] = {}
    for place, failed in result.errors.items():
        reason = refusal(failed.message, names=names)
        if reason is None:
            if len(objects) == 1:
                raise StoreUnavailable(STORE, "an object was not written")
            # What had befallen it beside the others may have passed; if it has not, this raises.
            reason = (await _sent(collection, [objects[place]], fence)).get(0)
        if reason is not None:
            refused[place] = reason
    return refused


async def _stored_vectors(collection: CollectionAsync[Any, Any], ids: Sequence[str]) -> dict[str, list[float]]:
    if not ids:
        return {}
    # One question and one write for a whole chunk, where a PATCH for each object would be hundreds.
    found = await collection.query.fetch_objects(
        filters=conditions.identified(ids), limit=len(ids), return_properties=["identifier"], include_vector=True
    )
    return {
        cast("str", item.properties["identifier"]): cast("list[float]", item.vector["default"])
        for item in found.objects
    }


def _chunks(items: Sequence[_T]) -> list[Sequence[_T]]:
    return [items[start : start + _OBJECTS_A_WRITE] for start in range(0, len(items), _OBJECTS_A_WRITE)]
