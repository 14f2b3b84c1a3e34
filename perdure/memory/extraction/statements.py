"""What the words of a memory assert where nobody has said it for them. Pure."""

from datetime import datetime

from perdure.items import MemoryItem
from perdure.memory.extraction.assertions import LONGEST, Stated, assertion_of
from perdure.memory.extraction.reading import sentences


def stated_by(text: str, at: datetime) -> Stated:
    """Return what a text asserts as a whole, and from when and until when.

    A text whose sentences assert several things asserts none: what contradicts one of them would replace them all.

    Args:
        text: The text of a memory.
        at: When it was said, as for ``assertion_of``.
    """
    if len(text) > LONGEST:
        return Stated()
    parts = sentences(text)
    if len(parts) > 1 and sum(assertion_of(part, at).assertion is not None for part in parts) > 1:
        return Stated()
    return assertion_of(text, at)


def stated(item: MemoryItem) -> MemoryItem:
    """Return a memory with what its text asserts, from when and until when, where its caller says none of it."""
    if item.assertion is not None:
        return item
    found = stated_by(item.content, item.occurred_at)
    told = {name: date for name, date in found.dates.items() if getattr(item, name) is None}
    return item.changed(assertion=found.assertion, **told) if found.assertion or told else item


def restated(item: MemoryItem, at: datetime) -> MemoryItem:
    """Return a memory with what its new words assert, whatever the old ones did.

    Args:
        item: The memory, in its new words.
        at: When they were said.
    """
    found = stated_by(item.content, at)
    return item.changed(assertion=found.assertion, **found.dates)
