"""What is wrong with collections, found without changing them."""

from uuid import uuid4

import pytest
import weaviate.classes.config as wvc

from perdure.errors import EmbeddingMismatch, SchemaMismatch
from perdure.stores.weaviate import schema
from perdure.stores.weaviate.connection import make_client
from perdure.stores.weaviate.examination import differences
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from tests.conftest import Servers

EMBEDDING = Embedding(name="model", dimension=4)


@pytest.mark.slow
async def test_collections_that_are_not_as_needed_are_named_and_left_as_they_are(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = f"Doctor{uuid4().hex[:8]}"
    where = (servers.weaviate_url, servers.weaviate_grpc_port)
    kinds = ("Record", "Memory", "Turn")

    async def found(of: Embedding | None = EMBEDDING) -> list[str]:
        return await differences(*where, embedding=of, prefix=prefix, api_key=servers.weaviate_api_key)

    assert await found() == [f"there is no collection {prefix}{kind}" for kind in kinds]

    longterm = LongTerm(*where, embedding=EMBEDDING, prefix=prefix, api_key=servers.weaviate_api_key)
    try:
        with monkeypatch.context() as older:
            older.setattr(schema, "COMMON", tuple(one for one in schema.COMMON if one.name != "purge_after"))
            await longterm.prepare()
        for _ in range(2):  # The first look has not added what is missing.
            assert await found() == [f"the collection {prefix}{kind} lacks purge_after" for kind in kinds]
        with pytest.raises(EmbeddingMismatch):
            await found(Embedding(name="other", dimension=4))
        await longterm.prepare()
        assert await found() == []
        assert await found(None) == []

        with monkeypatch.context() as newer:
            newer.setattr(
                schema, "COMMON", (*schema.COMMON[1:], wvc.Property(name="identifier", data_type=wvc.DataType.INT))
            )
            with pytest.raises(SchemaMismatch, match="identifier"):
                await found()
    finally:
        await longterm.close()
        async with make_client(*where, api_key=servers.weaviate_api_key) as client:
            await client.collections.delete([f"{prefix}{kind}" for kind in kinds])
