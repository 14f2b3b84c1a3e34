"""Workers that start side by side make the collection of the marks together."""

import asyncio
from uuid import uuid4

import pytest

from perdure.stores.weaviate.connection import Connection
from perdure.stores.weaviate.marks import WeaviateMarks
from tests.conftest import Servers
from tests.integration.stores.weaviate.test_store import EMBEDDING

WORKERS = 6
ROUNDS = 5


@pytest.mark.slow
async def test_whoever_makes_the_collection_all_can_write_to_it(servers: Servers) -> None:
    for _ in range(ROUNDS):
        prefix = f"PerdureTest{uuid4().hex[:8]}"
        connections = [
            Connection(
                servers.weaviate_url,
                servers.weaviate_grpc_port,
                embedding=EMBEDDING,
                api_key=servers.weaviate_api_key,
                prefix=prefix,
            )
            for _ in range(WORKERS)
        ]
        try:
            marks = [WeaviateMarks(connection, 3.0) for connection in connections]
            for connection in connections:
                await connection.client()
            await asyncio.gather(*(one.begin("journal") for one in marks))
            assert (await marks[0].told()).journal == "journal"
        finally:
            await (await connections[0].client()).collections.delete(f"{prefix}Mark")
            for connection in connections:
                await connection.close()
