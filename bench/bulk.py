"""Many memories at once, with made-up vectors: what a user who has been there for years has."""

import asyncio
import functools
import random
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import httpx

from bench.sentences import sentences
from perdure.memory.retention import RetentionRules
from perdure.models.embedding import Vector
from perdure.settings import Addresses
from perdure.stores.weaviate.store import LongTerm
from perdure.values.entries import Memory, MemoryType, Source

_AT_ONCE = 1_000
_FLUSHED_WITHIN = 300.0
"""Seconds; Weaviate flushes what was written a minute ago."""


def vectors(dimension: int, *, seed: int) -> Iterator[Vector]:
    """Yield made-up vectors without end."""
    chance = random.Random(seed)
    while True:
        yield [chance.gauss(0.0, 1.0) for _ in range(dimension)]


@functools.cache
def _texts() -> tuple[str, ...]:
    # Reading the documentation takes longer than anything that is measured.
    return tuple(sentences())


def memories(number: int, *, start: int, now: datetime, rules: RetentionRules) -> list[Memory]:
    """Return memories of the last hundred days, dated by the rules, in sentences that people wrote."""
    chance, texts = random.Random(start), _texts()
    found: list[Memory] = []
    for place in range(start, start + number):
        at = now - timedelta(days=100 * chance.random())
        found.append(
            rules.dated(
                Memory(
                    id=f"mem_{place:064}",
                    text=f"{texts[place % len(texts)]} ({place})",
                    memory_type=chance.choice([MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.OUTCOME]),
                    source=Source.LEARNED,
                    confidence=round(0.7 + 0.3 * chance.random(), 2),
                    first_seen=at,
                    last_seen=at,
                    occurrences=(f"o{place}",),
                )
            )
        )
    return found


async def insert(longterm: LongTerm, tenant: str, entries: Sequence[Memory], made_up: Iterator[Vector]) -> None:
    """Write entries as they are, past the door: it would take an hour, and is not what is measured."""
    for start in range(0, len(entries), _AT_ONCE):
        chunk = entries[start : start + _AT_ONCE]
        await longterm.put(tenant, chunk, {entry.id: next(made_up) for entry in chunk})


async def until_flushed(addresses: Addresses, tenant: str, number: int) -> None:
    """Wait until Weaviate has written this many objects of a tenant to its segments.

    Raises:
        RuntimeError: It takes too long.
    """
    key = addresses.weaviate_api_key.get_secret_value() if addresses.weaviate_api_key else None
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    deadline = time.monotonic() + _FLUSHED_WITHIN
    counted = 0
    async with httpx.AsyncClient(base_url=addresses.weaviate_url, headers=headers, timeout=30) as http:
        while time.monotonic() < deadline:
            nodes = (await http.get("/v1/nodes", params={"output": "verbose"})).json()["nodes"]
            shards = [shard for node in nodes for shard in node.get("shards") or () if shard["name"] == tenant]
            counted = sum(shard["objectCount"] for shard in shards)
            if counted >= number:
                return
            await asyncio.sleep(0.5)
    host = urlsplit(addresses.weaviate_url).netloc
    raise RuntimeError(f"{host} has flushed {counted} of {number} objects in {_FLUSHED_WITHIN:.0f} s")
