"""What Weaviate holds, read past the product's own queries."""

import json
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import weaviate
from weaviate.classes.init import Auth
from weaviate.classes.query import Filter
from weaviate.exceptions import WeaviateBaseError

from chaos.verdict import Stored
from perdure.settings import Addresses
from perdure.values.entries import State

COLLECTIONS = ("PerdureRecord", "PerdureMemory", "PerdureTurn")
NEAREST = 5
_WANTED = ["identifier"]


async def stored_of(tenants: Iterable[str], addresses: Addresses) -> dict[str, Stored]:
    """Return what the store holds of each of these tenants."""
    async with _store(addresses) as client:
        return {tenant: await _stored(client, tenant) for tenant in tenants}


@asynccontextmanager
async def _store(addresses: Addresses) -> AsyncGenerator[weaviate.WeaviateAsyncClient]:
    place, secret = urlsplit(addresses.weaviate_url), addresses.weaviate_api_key
    client = weaviate.use_async_with_local(
        host=str(place.hostname),
        port=place.port or 80,
        grpc_port=addresses.weaviate_grpc_port,
        auth_credentials=Auth.api_key(secret.get_secret_value()) if secret else None,
        skip_init_checks=True,
    )
    async with client:
        yield client


async def _stored(client: weaviate.WeaviateAsyncClient, tenant: str) -> Stored:
    seen: dict[str, int] = {}
    unindexed = 0
    for name in COLLECTIONS:
        collection = client.collections.use(name).with_tenant(tenant)
        if not await client.collections.use(name).tenants.exists(tenant):
            continue
        async for item in collection.iterator(include_vector=True, return_properties=["identifier", "document"]):
            identifier, document = str(item.properties["identifier"]), json.loads(str(item.properties["document"]))
            if document["state"] == State.FORGOTTEN:
                # No search may find it; undoing writes it, and its place in the index, anew.
                continue
            seen[identifier] = document["seen"]
            if document["seen"] != 1:
                sys.stderr.write(f"observed {document['seen']} times, in {tenant}: {json.dumps(document)}\n")
            vector, alone = item.vector["default"], Filter.by_property("identifier").equal(identifier)
            try:
                near = await collection.query.near_vector(vector, limit=NEAREST, return_properties=_WANTED)
                found = identifier in {str(one.properties["identifier"]) for one in near.objects}
                only = await collection.query.near_vector(vector, limit=1, filters=alone, return_properties=_WANTED)
                told = f"{identifier} ({document['state']}) of {tenant} is {'' if only.objects else 'not '}in the index"
            except WeaviateBaseError as error:
                found, told = False, f"{tenant}: {type(error).__name__}"
            if not found:
                unindexed += 1
                sys.stderr.write(f"not among the {NEAREST} nearest to its own vector: {told}\n")
    return Stored(seen=seen, unindexed=unindexed)
