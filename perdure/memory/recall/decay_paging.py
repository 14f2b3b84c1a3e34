"""Searches that go on behind what is not recalled: the store does not know decay, or what something overrides."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from perdure.values.entries import Entry, Memory
from perdure.values.hits import Hit

FoundT = TypeVar("FoundT", Entry, Hit)

_WIDER = 4
_MOST = 480
"""Memories that are looked at for one question at most: so many have to have faded, and to be nearer to the question
than what is believed, for a result to lack anything. Among 2,500 that have faded, a recall takes .2 s; with 2,000 at
most it took 1.6 s of the 2 s that it has, and came back empty now and then (measured)."""


async def past_faded(
    find: Callable[[int], Awaitable[Sequence[FoundT]]], counts: Callable[[Memory], bool], wanted: int
) -> Sequence[FoundT]:
    """Return what a search finds, asked for more until enough memories of it count, those that do not included.

    Where all count, it is asked once.

    Args:
        find: Searches for at most so many of each kind.
        counts: Whether a memory that it found is recalled.
        wanted: How many memories suffice.
    """
    most = wanted
    while True:
        found = await find(most)
        entries = [one.entry if isinstance(one, Hit) else one for one in found]
        memories = [entry for entry in entries if isinstance(entry, Memory)]
        believed = sum(map(counts, memories))
        if believed == len(memories) or believed >= wanted or len(memories) < most or most >= _MOST:
            return found
        most = min(most * _WIDER, _MOST)
