"""Ingest, next to the few lines one would write: embed, one neighbour query per item, insert_many, read back.

A transcript, which nothing is compared with, next to: embed, insert_many.
"""

import asyncio
import statistics
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import weaviate
from pydantic import JsonValue
from weaviate.classes.config import Configure, DataType, Property
from weaviate.classes.data import DataObject
from weaviate.classes.init import Auth
from weaviate.classes.query import Filter

from bench.measured_worker import serving
from bench.sentences import sentences
from perdure.memory.extraction.screening import screen
from perdure.memory.writing.batch_checks import read_batch
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.names import DEFAULT_POLICY
from perdure.settings import Addresses
from perdure.values.jobs import Fate, Receipt, SubmitCall

ITEMS = 1_000
BATCH = 100
ROUNDS = 3
_MINUTE = timedelta(minutes=1)
_SEARCHABLE = 0.99


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, several times, and return the medians."""
    measured: defaultdict[str, list[float]] = defaultdict(list)
    embedder = MiniLMEmbedder()
    await embedder.embed(["warm"])
    corpus = [text for text in sentences() if not screen(text).kinds]
    for turn in range(ROUNDS):
        texts = corpus[turn * ITEMS : (turn + 1) * ITEMS]
        for name, item, policy in (("", _memory, DEFAULT_POLICY), ("transcript_", _turn, "transcript")):
            ours = await _ours(addresses, [item(*one) for one in enumerate(texts)], policy)
            floor = await _floor(addresses, embedder, texts, compared=item is _memory)
            measured[f"ingest.{name}per_second"].append(ours)
            measured[f"ingest.{name}floor_per_second"].append(floor)
            measured[f"ingest.{name}ratio"].append(ours / floor)
    return {name: statistics.median(values) for name, values in measured.items()}


def _memory(number: int, text: str) -> JsonValue:
    now = datetime.now(UTC).isoformat()
    return {"kind": "memory", "content": text, "occurrence": f"bench/{number}", "occurred_at": now}


def _turn(number: int, text: str) -> JsonValue:
    now = datetime.now(UTC).isoformat()
    place = {"session": "bench", "position": number, "speaker": f"speaker {number % 2}"}
    return {"kind": "turn", "content": text, "occurrence": f"bench/{number}", "occurred_at": now, **place}


async def _ours(addresses: Addresses, items: list[JsonValue], policy: str) -> float:
    """Return items per second by way of the product: submit, plan, apply, confirm, receipt."""
    async with serving(addresses) as (client, services, settings):
        queue = settings.task_queue
        tenant = f"t_{uuid4().hex}"
        began = time.perf_counter()
        jobs: list[str] = []
        for start in range(0, len(items), BATCH):
            key = f"bench-{start}"
            batch = read_batch(tenant=tenant, key=key, items=items[start : start + BATCH], policy=policy)
            job = await client.execute_activity(
                "submit_ingest",
                SubmitCall(batch=batch),
                id=uuid4().hex,
                task_queue=queue,
                result_type=str,
                start_to_close_timeout=_MINUTE,
            )
            jobs.append(job)
        receipts = await asyncio.gather(
            *(client.get_workflow_handle(job, result_type=Receipt).result() for job in jobs)
        )
        elapsed = time.perf_counter() - began
        searchable = sum(receipt.count(Fate.SEARCHABLE) for receipt in receipts)
        # Of a thousand unrelated instructions, two or three are read as contradicting a later one.
        assert searchable >= len(items) * _SEARCHABLE, f"{searchable} of {len(items)} are searchable"
        await services.longterm.drop_tenant(tenant)
    return len(items) / elapsed


async def _floor(addresses: Addresses, embedder: MiniLMEmbedder, texts: list[str], *, compared: bool) -> float:
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
            for vector in vectors if compared else ():
                await collection.query.near_vector(vector, limit=5)
            added = await collection.data.insert_many(
                [DataObject({"text": text}, vector=vector) for text, vector in zip(chunk, vectors, strict=True)]
            )
            ids = list(added.uuids.values())
            if compared:
                found = await collection.query.fetch_objects(filters=Filter.by_id().contains_any(ids), limit=BATCH)
                assert len(found.objects) == len(chunk)
        return len(texts) / (time.perf_counter() - began)
    finally:
        await client.collections.delete(name)
        await client.close()
