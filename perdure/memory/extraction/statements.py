"""What the words of a memory assert where nobody has said it for them. Pure."""

import re
from datetime import datetime

from perdure.memory.extraction.assertions import Stated, assertion_of
from perdure.memory.extraction.parser import sentences
from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.speech import LONGEST
from perdure.values.items import MemoryItem

_NOT_NOW = regex(r"\b(?:was|were|had|used to|might|may|could|would|should)\b|^(?:If|When|Unless|Whenever)\b")
"""What was, or may be, does not replace what is."""

_COMPOUND = regex(
    r"[;()]|\s[-–—]\s|,\s+(?:and|but|so|because|while|she|he|they|it|which|who|please)\b|\b(?:because|although)\b"
)
"""Says more than one thing: what contradicts one of them would replace them all."""

_DATED = regex(r"\b(?:until|till|from|starting|as of|since|through)\b", re.IGNORECASE)
"""Says itself from when or until when it holds; "in 14 days" says when something happens."""

_RANGE = regex(r"\bfrom (?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?s? (?:to|until|till|through)\b", re.IGNORECASE)
"""Days of each week."""


def stated_by(text: str, at: datetime) -> Stated:
    """Return what a text asserts as a whole, and from when and until when.

    A text whose sentences assert several things asserts none: what contradicts one of them would replace them all.

    Args:
        text: The text of a memory.
        at: When it was said, as for ``assertion_of``.
    """
    if len(text) > LONGEST or _NOT_NOW.search(text) or _COMPOUND.search(text):
        return Stated()
    parts = sentences(text)
    if len(parts) > 1 and sum(assertion_of(part, at).assertion is not None for part in parts) > 1:
        return Stated()
    found = assertion_of(text, at)
    return found if _DATED.search(text) and not _RANGE.search(text) else Stated(found.assertion)


def stated(item: MemoryItem) -> MemoryItem:
    """Return a memory with what its text asserts, from when and until when, where its caller says none of it."""
    if item.assertion is not None:
        return item
    found = stated_by(item.content, item.occurred_at)
    told = {name: date for name, date in found.dates.items() if getattr(item, name) is None}
    begin, end = told.get("valid_from", item.valid_from), told.get("valid_until", item.valid_until)
    if begin is not None and end is not None and end <= begin:
        # What its caller gives counts, and not what its words seem to say.
        told = {}
    return item.changed(assertion=found.assertion, **told) if found.assertion or told else item


def restated(item: MemoryItem, at: datetime) -> MemoryItem:
    """Return a memory with what its new words assert, whatever the old ones did.

    Args:
        item: The memory, in its new words.
        at: When they were said.
    """
    found = stated_by(item.content, at)
    return item.changed(assertion=found.assertion, **found.dates)
