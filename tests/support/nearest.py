"""Asking a store for what is nearest to a vector, whatever else recall would make of it."""

from collections.abc import Sequence

from perdure.entries import Hit
from perdure.filters import Filters
from perdure.items import EARLIEST
from perdure.stores.weaviate.store import LongTerm


async def nearest(longterm: LongTerm, tenant: str, vector: Sequence[float], limit: int) -> list[Hit]:
    """Return the current memories nearest to a vector, nearest first.

    Raises:
        VectorIndexDamaged: The tenant's vectors cannot be searched.
    """
    filters = Filters(now=EARLIEST)
    hits = await longterm.search(tenant, text="", vector=vector, limit=limit, filters=filters, kinds=("memory",))
    return sorted(hits, key=lambda hit: hit.cosine or 0.0, reverse=True)
