"""What is wrong with Weaviate and its collections, found without changing anything and without an embedding model."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

from pydantic import SecretStr
from weaviate import WeaviateAsyncClient

from perdure.stores.weaviate import schema
from perdure.stores.weaviate.connection import answered_within, make_client
from perdure.stores.weaviate.mapping import KINDS
from perdure.stores.weaviate.schema import Embedding, collection_name

_WITHIN = 10.0


async def version(url: str, grpc_port: int, *, api_key: SecretStr | None = None) -> str:
    """Return which Weaviate answers.

    Raises:
        StoreUnavailable: None does.
    """
    async with _connected(url, grpc_port, api_key) as client:
        return cast("dict[str, str]", await client.get_meta())["version"]


async def differences(
    url: str,
    grpc_port: int,
    *,
    embedding: Embedding | None,
    api_key: SecretStr | None = None,
    prefix: str = "Perdure",
) -> list[str]:
    """Return what the collections lack; a worker's start would add it.

    Args:
        url: Weaviate's HTTP address.
        grpc_port: Its gRPC port on the same host.
        embedding: The model that the collections must hold; None where it is not known.
        api_key: A key, if Weaviate wants one.
        prefix: What the collections' names begin with.

    Raises:
        EmbeddingMismatch: They were made with another model.
        SchemaMismatch: What they have cannot be changed to what is needed.
        StoreUnavailable: Weaviate does not answer.
    """
    found: list[str] = []
    async with _connected(url, grpc_port, api_key) as client:
        for kind in KINDS:
            name = collection_name(prefix, kind)
            if not await client.collections.exists(name):
                found.append(f"there is no collection {name}")
            elif missing := await schema.lacking(client, name, kind, embedding):
                found.append(f"the collection {name} lacks {', '.join(one.name for one in missing)}")
    return found


@asynccontextmanager
async def _connected(url: str, grpc_port: int, api_key: SecretStr | None) -> AsyncGenerator[WeaviateAsyncClient]:
    client = make_client(url, grpc_port, api_key=api_key)
    try:
        async with answered_within(_WITHIN):
            await client.connect()
            yield client
    finally:
        await client.close()
