"""Which items are observations of behaviour, and which of them observe the same. Pure.

What an agent infers from what somebody did may be chance: it is believed when it was observed in two places. What
people state about themselves, and what came of something, is believed when it is said once.
"""

from perdure.entries import MemoryType, Source
from perdure.items import MemoryItem
from perdure.memory.extraction.grounds.behaviour import is_behaviour, is_seldom, without_frequency
from perdure.memory.extraction.reading import sentences, words_of
from perdure.memory.extraction.telling import told
from perdure.memory.extraction.trimming import trimmed

_INFERRED = frozenset({Source.LEARNED, Source.INFERRED})


def behaviour_of(item: MemoryItem) -> tuple[str, ...]:
    """Return what an item tells of somebody's behaviour, in the words that two observations of it share.

    Empty: it tells none, or somebody has stated it, or it is an outcome.
    """
    if item.source not in _INFERRED or item.memory_type is MemoryType.OUTCOME:
        return ()
    parts = sentences(item.content)
    if not parts or not all(is_behaviour(words_of(trimmed(part))) for part in parts):
        return ()
    text = without_frequency(item.content)
    seldom = "seldom" if is_seldom(item.content) else ""
    return (seldom, *sorted(told(text).words or {text.casefold()}))
