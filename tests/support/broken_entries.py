"""Entries that no build can read, as a damaged store has them."""

from typing import Any

from perdure.identity import object_uuid
from perdure.stores.weaviate.mapping import properties_of
from perdure.values.entries import Entry
from tests.integration.conftest import AnyStores


async def break_entry(stores: AnyStores, tenant: str, entry: Entry) -> None:
    """Leave an entry in the store that no build can read."""
    collection = await _collection(stores, tenant, entry)
    broken = {**properties_of(entry), "document": "{"}
    vector = (await stores.embedder.embed([entry.text]))[0]
    await collection.data.replace(object_uuid(tenant, entry.id), properties=broken, vector=vector)


async def lose_vector(stores: AnyStores, tenant: str, entry: Entry, *, readable: bool = True) -> None:
    """Leave an entry in the store that no search by meaning finds."""
    collection, place = await _collection(stores, tenant, entry), object_uuid(tenant, entry.id)
    await collection.data.delete_by_id(place)
    kept = properties_of(entry) if readable else {**properties_of(entry), "document": "{"}
    await collection.data.insert(kept, uuid=place)


async def _collection(stores: AnyStores, tenant: str, entry: Entry) -> Any:
    longterm: Any = stores.longterm
    return (await longterm._connection.collection(entry.kind)).with_tenant(tenant)
