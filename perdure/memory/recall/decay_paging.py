"""Searches that go on behind what has decayed: the store filters by confidence as it was, and does not know decay."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from perdure.values.entries import Entry, Memory
from perdure.values.filters import Filters
from perdure.values.hits import Hit

FoundT = TypeVar("FoundT", Entry, Hit)

_WIDER = 4
_MOST = 480
"""Memories that are looked at for one question at most: so many have to have faded, and to be nearer to the question
than what is believed, for a result to lack anything. Among 2,500 that have faded, a recall takes .2 s; with 2,000 at
most it took 1.6 s of the 2 s that it has, and came back empty now and then (measured)."""


async def past_faded(
    find: Callable[[int], Awaitable[Sequence[FoundT]]], filters: Filters, wanted: int
) -> Sequence[FoundT]:
    """Return what a search finds, asked for more until enough memories of it are believed, those that faded included.

    Where nothing has faded, it is asked once.

    Args:
        find: Searches for at most so many of each kind.
        filters: By which memory counts as believed.
        wanted: How many memories suffice.
    """
    most = wanted
    while True:
        found = await find(most)
        entries = [one.entry if isinstance(one, Hit) else one for one in found]
        memories = [entry for entry in entries if isinstance(entry, Memory)]
        believed = sum(filters.believed(memory) >= filters.min_confidence for memory in memories)
        if believed == len(memories) or believed >= wanted or len(memories) < most or most >= _MOST:
            return found
        most = min(most * _WIDER, _MOST)
