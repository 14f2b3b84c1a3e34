"""Whether two sentences tell the same, or a change of it, in words that are put together otherwise. Pure.

``agreement`` compares what two sentences assert part by part: what one says in the active and the other in the passive,
or one with a verb and the other with its noun, is apart for it. Where a statement itself says that something is not
what it was, this is reason enough to look at the words that both share, and at what is left of either.
"""

from enum import Enum, auto

from perdure.memory.extraction.lexicon import FREQUENCIES, MONTHS, WEEKDAYS
from perdure.memory.extraction.telling import Told

LEAST_SHARED = 2
"""Words that a change shares with what it changes, at the least. A choice."""
_MOST_LEFT = 4
"""Words of either that may be left over: more of them are about something else. A choice."""


def changes(new: Told, old: Told) -> bool:
    """Return whether a statement that tells of a change says that what an earlier one says holds no more."""
    if not new.changed or len(old.words & new.words) < LEAST_SHARED:
        return False
    if any(words <= old.stated for words in new.former) or any(words <= new.stated for words in old.former):
        return True
    return any(_says_otherwise(old, part) for part in new.parts)


def restates(new: Told, old: Told) -> bool:
    """Return whether two statements say the same with the same words, in whatever order where that says nothing."""
    if len(old.order) <= LEAST_SHARED or old.ended != new.ended or old.words != new.words:
        return False
    return old.order == new.order or not (old.ordered or new.ordered)


def _says_otherwise(old: Told, part: Told) -> bool:
    shared, left, added = old.words & part.words, old.words - part.words, part.words - old.words
    if len(shared) < LEAST_SHARED:
        return False
    if old.ended != part.ended:
        return not left
    if not left:
        here, there = ([word for word in one.order if word in shared] for one in (old, part))
        return here != there and old.ordered and part.ordered and len(added) < LEAST_SHARED
    kind = _kind(left, old)
    if not added or kind is not _kind(added, part) or max(len(left), len(added)) > _MOST_LEFT:
        return False
    # "As a cache" and "as a queue" are two uses; the bathroom's tap may drip as well as the kitchen's; and "field 13 is
    # sown with lupins" is of another field, while "at 9" is another time.
    uses, subjects = left & old.qualified and added & part.qualified, old.order[0] in left and part.order[0] in added
    if uses or subjects or (kind is _Kind.COUNT and min(len(left), len(added)) > 1):
        return False
    # What two words are of one kind cannot be told; where they are names or numbers, it can.
    return len(left) < len(shared) if kind is _Kind.WORD else len(left) <= len(shared) + 1


class _Kind(Enum):
    COUNT = auto()
    NAME = auto()
    WORD = auto()


def _kind(words: frozenset[str], of: Told) -> _Kind:
    if any(_counts(word) for word in words):
        return _Kind.COUNT
    return _Kind.NAME if words & of.names else _Kind.WORD


def _counts(word: str) -> bool:
    named = word in WEEKDAYS or word in MONTHS or word in FREQUENCIES or word in ("twice", "once", "everi")
    return named or any(character.isdigit() for character in word)
