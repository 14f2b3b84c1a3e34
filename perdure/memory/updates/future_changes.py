"""Changes that are still to come: what ends with one of them goes on where it is forgotten, moved or replaced. Pure.

"From Monday on it is at eight", said on Thursday, ends what holds today on Monday, and names itself as what replaces
that. Until then nothing has been replaced, so that nothing is lost where the change does not come.
"""

from collections.abc import Iterable
from datetime import datetime

from perdure.memory.writing.contradictions import overtaken, said
from perdure.values.entries import Entry, Memory, State


def is_coming(memory: Entry, at: datetime) -> bool:
    """Return whether a memory is a change that is still to come."""
    return isinstance(memory, Memory) and memory.valid_from is not None and memory.valid_from > at


def ended_by(coming: Memory, entries: Iterable[Entry]) -> list[Memory]:
    """Return those of some entries that hold, and end with a change that is still to come."""
    return [
        one
        for one in entries
        if isinstance(one, Memory) and one.state is State.CURRENT and one.superseded_by == coming.id
    ]


def unended(memory: Memory, until: datetime | None) -> Memory:
    """Return a memory as if the change that it was to end with did not come: it holds until some day, or for good."""
    return memory.changed(valid_until=until, superseded_by="", superseded_at=None, contradicted=False)


def moved(memory: Memory, coming: Memory, at: datetime) -> Memory:
    """Return a memory, as it was to go on, after the change that it ends with was moved to another day."""
    return overtaken(memory, said(coming), coming.id, at)
