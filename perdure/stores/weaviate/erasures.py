"""The erasures that Weaviate knows of, in a collection of their own: one object a user."""

from typing import Any, cast
from uuid import UUID, uuid5

from weaviate.classes.data import DataObject
from weaviate.collections import CollectionAsync

from perdure.errors import StoreUnavailable
from perdure.stores.weaviate.connection import Connection, answered_within, stored_at
from perdure.stores.weaviate.schema import WHO_CREATES, erasures_name
from perdure.tolerance import read_back
from perdure.values.erasures import Erasure
from perdure.values.losses import Store

_NAMES = UUID("c0a7c1de-52b9-4a0e-93ce-5f5b0e6f5a7d")


class WeaviateErasures:
    """Every method raises StoreUnavailable when Weaviate does not answer.

    Args:
        connection: The connection to ask through.
        timeout: Seconds that one call may take.
    """

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout

    async def all(self) -> dict[str, Erasure]:
        """Return the latest erasure of each user."""
        collection = await self._collection()
        found: dict[str, Erasure] = {}
        async with answered_within(self._timeout):
            if not await collection.exists():
                return {}
            async for item in collection.iterator(return_properties=["line"]):
                one = read_back(Erasure, str(item.properties["line"]))
                found[one.tenant] = one
        return found

    async def of(self, tenant: str) -> Erasure | None:
        """Return a user's latest erasure."""
        collection = await self._collection()
        async with answered_within(self._timeout):
            if not await collection.exists():
                return None
            found = await stored_at(collection, uuid5(_NAMES, tenant), ["line"])
        return None if found is None else read_back(Erasure, str(found.properties["line"]))

    async def add(self, erasure: Erasure) -> None:
        """Keep an erasure."""
        collection = await self._collection()
        async with answered_within(self._timeout):
            # Weaviate may be set to make what a write lacks, in a form of its own.
            if not await collection.exists():
                raise StoreUnavailable(Store.WEAVIATE, f"has no collection {collection.name} yet; {WHO_CREATES}")
        if not erasure.follows(await self.of(erasure.tenant)):
            return
        properties: Any = {"line": erasure.model_dump_json()}
        async with answered_within(self._timeout):
            result = await collection.data.insert_many(
                [DataObject(uuid=uuid5(_NAMES, erasure.tenant), properties=properties)]
            )
        if result.has_errors:
            raise StoreUnavailable(Store.WEAVIATE, "did not store the erasure record")

    async def _collection(self) -> CollectionAsync[Any, Any]:
        client = await self._connection.client()
        return cast("CollectionAsync[Any, Any]", client.collections.use(erasures_name(self._connection.prefix)))
