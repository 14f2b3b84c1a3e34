"""Whether two memories say the same in other words. Pure.

Similarity only nominates them. With all-MiniLM-L6-v2, "Python over JavaScript" and its reverse have a cosine
of .990, "db-1" and "db-2" of .975 (measured): so words, and their order, decide.
"""

from perdure.memory.updates.merges import is_recalled_less
from perdure.values.assertions import Assertion
from perdure.values.entries import Memory, MemoryType, State, headline_of
from perdure.values.items import statement

SIMILAR = 0.9
"""The least cosine of two memories that are compared (R30)."""

_EMPTY = frozenset({"also", "just", "please", "really", "simply"})
"""Words that do not change what a statement says."""

_FRONTED = frozenset({"on", "in", "at", "during", "every", "since"})
"""What may begin a phrase that stands before a sentence as well as behind it: "on Tuesdays, …"."""


def is_duplicate(one: Memory, other: Memory) -> bool:
    """Return whether two memories can be merged without losing anything; if in doubt, they cannot.

    Constraints and pinned memories stay as somebody wrote them.
    """
    if one.id == other.id or not (_is_free(one) and _is_free(other)) or _frame(one) != _frame(other):
        return False
    if is_recalled_less(one, other):
        return False
    if one.assertion and other.assertion:
        return _parts(one.assertion) == _parts(other.assertion)
    if one.assertion or other.assertion:
        return False
    return normal(headline_of(one.text)) == normal(headline_of(other.text))


def kept_first(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return the memory whose text stays, and the other: the one seen more often stays, otherwise the older one."""
    first, second = sorted((one, other), key=lambda memory: (-memory.seen, memory.first_seen, memory.id))
    return first, second


def normal(content: str) -> tuple[str, ...]:
    """Return a statement's significant words, with a phrase in front moved to its end.

    >>> normal("On Tuesdays, deploys really happen.")
    ('deploys', 'happen', 'on', 'tuesdays')
    """
    front, comma, rest = content.partition(",")
    words, others = _words(front), _words(rest)
    if comma and others and words and words[0] in _FRONTED and "," not in rest:
        return (*others, *words)
    return _words(content)


def _words(text: str) -> tuple[str, ...]:
    found = tuple(word for word in statement(text).split() if word.rstrip("!") not in _EMPTY) if text.strip() else ()
    return (*found[:-1], found[-1].rstrip("!")) if found else ()


def _is_free(memory: Memory) -> bool:
    return (
        memory.state is State.CURRENT
        and not memory.superseded_by
        and not memory.pinned
        and memory.memory_type is not MemoryType.CONSTRAINT
        and not memory.suspended
    )


def _frame(memory: Memory) -> object:
    """Return what has to be equal in addition to the statement: its scopes, dates, purpose and metadata."""
    return (
        memory.memory_type,
        memory.purpose,
        frozenset(memory.scopes),
        memory.valid_from,
        memory.valid_until,
        memory.metadata_json,
    )


def _parts(assertion: Assertion) -> object:
    return assertion.model_dump(exclude={"revises"})
