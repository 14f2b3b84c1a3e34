"""Ingest, next to the few lines one would write: embed, one neighbour query per item, insert_many, read back."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import weaviate
from pydantic import JsonValue
from weaviate.classes.config import Configure, DataType, Property
from weaviate.classes.data import DataObject
from weaviate.classes.init import Auth
from weaviate.classes.query import Filter

from bench.sentences import sentences
from bench.serving import serving
from perdure.jobs import Fate, Receipt
from perdure.memory.writing.checking import read_batch
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.settings import Addresses

ITEMS = 1_000
BATCH = 100
ROUNDS = 3
_MINUTE = timedelta(minutes=1)


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, several times, and return the medians."""
    ours: list[float] = []
    floor: list[float] = []
    embedder = MiniLMEmbedder()
    await embedder.embed(["warm"])
    corpus = sentences()
    for turn in range(ROUNDS):
        texts = corpus[turn * ITEMS : (turn + 1) * ITEMS]
        ours.append(await _ours(addresses, texts))
        floor.append(await _floor(addresses, embedder, texts))
    ratios = sorted(one / other for one, other in zip(ours, floor, strict=True))
    return {
        "ingest.per_second": sorted(ours)[ROUNDS // 2],
        "ingest.floor_per_second": sorted(floor)[ROUNDS // 2],
        "ingest.ratio": ratios[ROUNDS // 2],
    }


async def _ours(addresses: Addresses, texts: list[str]) -> float:
    """Return items per second by way of the product: submit, plan, apply, confirm, receipt."""
    async with serving(addresses) as (client, services, settings):
        queue = settings.task_queue
        tenant = f"t_{uuid4().hex}"
        began = time.perf_counter()
        jobs: list[str] = []
        for start in range(0, len(texts), BATCH):
            items: list[JsonValue] = [
                {
                    "kind": "memory",
                    "content": text,
                    "occurrence": f"bench/{start + index}",
                    "occurred_at": datetime.now(UTC).isoformat(),
                }
                for index, text in enumerate(texts[start : start + BATCH])
            ]
            batch = read_batch(tenant=tenant, key=f"bench-{start}", items=items)
            jobs.append(
                await client.execute_activity(
                    "submit_ingest",
                    batch,
                    id=uuid4().hex,
                    task_queue=queue,
                    result_type=str,
                    start_to_close_timeout=_MINUTE,
                )
            )
        receipts = await asyncio.gather(
            *(client.get_workflow_handle(job, result_type=Receipt).result() for job in jobs)
        )
        elapsed = time.perf_counter() - began
        searchable = sum(receipt.count(Fate.SEARCHABLE) for receipt in receipts)
        assert searchable == len(texts), f"{searchable} of {len(texts)} are searchable"
        await services.longterm.drop_tenant(tenant)
    return len(texts) / elapsed


async def _floor(addresses: Addresses, embedder: MiniLMEmbedder, texts: list[str]) -> float:
    """Return items per second of the hand-written code."""
    host, key = addresses.weaviate_url.split("//")[1].split(":"), addresses.weaviate_api_key
    client = weaviate.use_async_with_local(
        host=host[0],
        port=int(host[1]),
        grpc_port=addresses.weaviate_grpc_port,
        auth_credentials=Auth.api_key(key.get_secret_value()) if key else None,
        skip_init_checks=True,
    )
    await client.connect()
    name = f"Floor{uuid4().hex[:8]}"
    try:
        created = await client.collections.create(
            name,
            properties=[Property(name="text", data_type=DataType.TEXT)],
            vector_config=Configure.Vectors.self_provided(vector_index_config=Configure.VectorIndex.flat()),
            multi_tenancy_config=Configure.multi_tenancy(auto_tenant_creation=True),
        )
        collection = created.with_tenant("t")
        await collection.data.insert({"text": "warm"}, vector=[0.1] * embedder.dimension)
        began = time.perf_counter()
        for start in range(0, len(texts), BATCH):
            chunk = texts[start : start + BATCH]
            vectors = await embedder.embed(chunk)
            for vector in vectors:
                await collection.query.near_vector(vector, limit=5)
            added = await collection.data.insert_many(
                [DataObject({"text": text}, vector=vector) for text, vector in zip(chunk, vectors, strict=True)]
            )
            ids = list(added.uuids.values())
            found = await collection.query.fetch_objects(filters=Filter.by_id().contains_any(ids), limit=BATCH)
            assert len(found.objects) == len(chunk)
        return len(texts) / (time.perf_counter() - began)
    finally:
        await client.collections.delete(name)
        await client.close()
