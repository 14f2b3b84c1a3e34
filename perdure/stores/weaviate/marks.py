"""What Weaviate says of itself: the id of its journal, and how far each process has come. A collection of its own."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID, uuid5

import weaviate.classes.config as wvc
from weaviate.classes.data import DataObject
from weaviate.collections import CollectionAsync
from weaviate.collections.classes.batch import BatchObjectReturn
from weaviate.exceptions import WeaviateBaseError

from perdure.errors import StoreLost, StoreUnavailable
from perdure.stores.weaviate.connection import Connection, answered_within, stored_at
from perdure.values.losses import Mark, Store, Told

_NAMES = UUID("5e2f6dc0-9a43-4c5a-8f5f-3f0d2f0e5b11")
_ID = "journal"
_REBUILDING = "rebuilding"
_NO_INDEX_YET = "could not find index for class"
_MOST = 10_000
"""Weaviate's own bound on one answer; processes that ended or rest are retired long before."""


class WeaviateMarks:
    """The marks in Weaviate. Every method raises StoreUnavailable when it does not answer.

    Args:
        connection: The connection to ask through.
        timeout: Seconds that one call may take.
    """

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout
        self._there = False

    async def told(self) -> Told:
        """Return what Weaviate says of itself."""
        collection = await self._collection()
        async with answered_within(self._timeout):
            if not self._there and not await collection.exists():
                return Told(None, {})
            try:
                found = await collection.query.fetch_objects(limit=_MOST)
            except WeaviateBaseError:
                # It was there before, and may have been lost since.
                if await collection.exists():
                    raise
                self._there = False
                return Told(None, {})
        self._there = True
        values = {str(item.properties["name"]): str(item.properties["value"]) for item in found.objects}
        journal, _ = values.pop(_ID, None), values.pop(_REBUILDING, None)
        return Told(journal, {writer: Mark.read(value) for writer, value in values.items()})

    async def begin(self, journal: str) -> None:
        """Bind Weaviate to a journal, unless it belongs to one."""
        told = await self.told()
        if told.journal is None:
            await self._make()
            await self._put(_ID, journal)

    async def rebuilding(self, token: str) -> str:
        """Return the token under which Weaviate is being rebuilt; this one, if it is not. A further loss takes it away.

        Two that ask at once may both get their own: the one that ends first starts over.
        """
        await self._make()
        if not await self.rebuilt_by():
            await self._put(_REBUILDING, token)
        return await self.rebuilt_by()

    async def rebuilt_by(self) -> str:
        """Return the token under which Weaviate is being rebuilt; empty where there is none."""
        collection = await self._collection()
        async with answered_within(self._timeout):
            if not await collection.exists():
                return ""
            found = await stored_at(collection, uuid5(_NAMES, _REBUILDING), ["value"])
        return "" if found is None else str(found.properties["value"])

    async def move(self, journal: str) -> None:
        """Bind Weaviate to another journal."""
        await self._put(_ID, journal)

    async def write(self, writer: str, mark: Mark, *, at_least: int) -> None:
        """Record how far a process has come.

        Args:
            writer: The process.
            mark: How far.
            at_least: How many done operations of the process it must know of, since the journal does.

        Raises:
            StoreLost: It does not.
        """
        collection = await self._collection()
        if at_least:
            async with answered_within(self._timeout):
                found = await stored_at(collection, uuid5(_NAMES, writer), ["value"])
            if found is None or Mark.read(str(found.properties["value"])).done < at_least:
                raise StoreLost(Store.WEAVIATE, "has lost what was written to it")
        await self._put(writer, str(mark))

    async def restore(self, journal: str, marks: Mapping[str, Mark]) -> None:
        """Write the marks of a Weaviate that was rebuilt."""
        await self._make()
        for writer, mark in marks.items():
            await self._put(writer, str(mark))
        await self._put(_ID, journal)
        await self.remove(_REBUILDING)

    async def remove(self, writer: str) -> None:
        """Remove the marks of a retired process."""
        collection = await self._collection()
        async with answered_within(self._timeout):
            await collection.data.delete_by_id(uuid5(_NAMES, writer))

    async def drop(self) -> None:
        """Remove all marks, so that Weaviate counts as lost."""
        client, collection = await self._connection.client(), await self._collection()
        async with answered_within(self._timeout):
            await client.collections.delete(collection.name)
        self._there = False

    async def _put(self, name: str, value: str) -> None:
        collection, place = await self._collection(), uuid5(_NAMES, name)
        properties = {"name": name, "value": value}
        async with answered_within(self._timeout):
            # A batch of one overwrites what is there; the call for a single object refuses it.
            result = await _inserted(collection, _object(place, properties))
        if result.has_errors:
            raise StoreUnavailable(Store.WEAVIATE, "did not store the operation counters")

    async def _make(self) -> None:
        collection = await self._collection()
        async with answered_within(self._timeout):
            if await collection.exists():
                return
            client = await self._connection.client()
            try:
                await client.collections.create(collection.name, properties=_PROPERTIES)
            except WeaviateBaseError:
                # Another process may have made it between the question and now.
                if not await collection.exists():
                    raise

    async def _collection(self) -> CollectionAsync[Any, Any]:
        client = await self._connection.client()
        return client.collections.use(f"{self._connection.prefix}Mark")


_PROPERTIES = [
    wvc.Property(name=name, data_type=wvc.DataType.TEXT, index_filterable=False, index_searchable=False)
    for name in ("name", "value")
]


async def _inserted(collection: CollectionAsync[Any, Any], one: Any) -> BatchObjectReturn:
    """Insert an object, as soon as the collection takes one."""
    while True:
        try:
            return await collection.data.insert_many([one])
        except WeaviateBaseError as error:
            # Another process has just made the collection: Weaviate lists it before it has an index.
            if _NO_INDEX_YET not in str(error):
                raise
            await asyncio.sleep(0.02)


def _object(place: UUID, properties: Mapping[str, str]) -> Any:
    return DataObject(uuid=place, properties=cast("Any", dict(properties)))
