"""Asking a store for what is nearest to a vector, whatever else recall would make of it."""

from collections.abc import Sequence

from perdure.model import EARLIEST
from perdure.stores.weaviate.store import LongTerm
from perdure.values.filters import Filters
from perdure.values.hits import Hit


async def nearest(longterm: LongTerm, tenant: str, vector: Sequence[float], limit: int) -> list[Hit]:
    """Return the current memories nearest to a vector, nearest first.

    Raises:
        VectorIndexDamaged: The tenant's vectors cannot be searched.
    """
    filters = Filters(now=EARLIEST)
    hits = await longterm.search(tenant, text="", vector=vector, limit=limit, filters=filters, kinds=("memory",))
    return sorted(hits, key=lambda hit: hit.cosine or 0.0, reverse=True)
