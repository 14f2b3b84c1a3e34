"""Writes that are cut off while Weaviate works on them, as the death of their writer cuts them off."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weaviate.classes.data import DataObject
from weaviate.collections import CollectionAsync

from perdure.identity import object_uuid
from perdure.stores.weaviate.mapping import properties_of
from perdure.stores.weaviate.store import LongTerm
from perdure.values.entries import Entry

TRIES = 200


async def collection_of(longterm: LongTerm, tenant: str, kind: str) -> CollectionAsync[Any, Any]:
    """Return Weaviate's own view of a tenant."""
    return (await longterm._connection.collection(kind)).with_tenant(tenant)  # pyright: ignore


def objects(
    tenant: str, entries: Sequence[Entry], vectors: Mapping[str, Sequence[float]]
) -> list[DataObject[Any, Any]]:
    """Return entries as they are sent; one without a vector goes without."""
    return [
        DataObject(uuid=object_uuid(tenant, one.id), properties=properties_of(one), vector=vectors.get(one.id))
        for one in entries
    ]


async def cut_off(
    longterm: LongTerm, tenant: str, entries: Sequence[Entry], vectors: Mapping[str, Sequence[float]]
) -> list[str]:
    """Write memories until a write that is cut off has stored all of them and left some out of the vector index.

    Returns:
        The ids of those that no search by meaning finds.
    """
    collection = await collection_of(longterm, tenant, "memory")
    ids = [entry.id for entry in entries]
    for number in range(TRIES):
        writing = asyncio.ensure_future(collection.data.insert_many(objects(tenant, entries, vectors)))
        await asyncio.wait({writing}, timeout=(number % 40 + 2) / 1000)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        stored = await _settled(longterm, tenant, ids)
        missing = sorted(set(ids) - (await longterm.searchable(tenant, ids)).keys())
        if stored == len(ids) and missing:
            return missing
        await longterm.drop_tenant(tenant)
    raise AssertionError(f"none of {TRIES} writes was cut off in the middle")


async def _settled(longterm: LongTerm, tenant: str, ids: Sequence[str]) -> int:
    """Return how many are stored once Weaviate has ended what it does with a write that was cut off."""
    before, same = -1, 0
    while same < 5:
        stored = len(await longterm.get(tenant, ids))
        same = same + 1 if stored == before else 0
        before = stored
        await asyncio.sleep(0.02)
    return before


def lose_vectors(weaviate: Path, tenant: str, *, kept: float) -> None:
    """Cut off the end of the log of a tenant's vectors, as a kill does before Weaviate has written it.

    Args:
        weaviate: The data folder of a Weaviate that is not running.
        tenant: Whose.
        kept: Which share of the log is left.
    """
    (log,) = weaviate.glob(f"perdurememory/{tenant}/lsm/vectors_default/*.wal")
    with log.open("r+b") as file:
        file.truncate(int(log.stat().st_size * kept))
