"""Entries that no build can read, as a damaged store has them."""

from typing import Any

from perdure.identity import object_uuid
from perdure.stores.weaviate.mapping import properties_of
from perdure.values.entries import Entry
from tests.integration.conftest import AnyStores


async def break_entry(stores: AnyStores, tenant: str, entry: Entry) -> None:
    """Leave an entry in the store that no build can read."""
    longterm: Any = stores.longterm
    collection = (await longterm._connection.collection(entry.kind)).with_tenant(tenant)
    broken = {**properties_of(entry), "document": "{"}
    vector = (await stores.embedder.embed([entry.text]))[0]
    await collection.data.replace(object_uuid(tenant, entry.id), properties=broken, vector=vector)
