"""A statement that is believed, as a candidate: what kind of memory it is, what it asserts, and when. Pure."""

import re

from perdure.memory.extraction import parser
from perdure.memory.extraction.aliases import aliases_of
from perdure.memory.extraction.assertions import assertion_of
from perdure.memory.extraction.grounds import stability
from perdure.memory.extraction.openers import trimmed
from perdure.memory.extraction.patterns import regex
from perdure.values.assertions import Assertion
from perdure.values.entries import MemoryType, Source
from perdure.values.statements import Candidate, Said, Voice

_CONFIDENCE = {Voice.USER: 0.9, Voice.AGENT: 0.8, Voice.TOOL: 0.8}
"""How much each voice is believed; a choice. All are above what a write policy asks for by default (.7)."""

_CONSTRAINT = regex(
    r"\b(?:must|mustn't|never|not allowed|may not|may only|have to|has to|needs?|requires?|required|only"
    r"|at most|at least|no more than|forbid\w*|forbidden|can't be|cannot be|do not|don't|allerg\w+"
    r"|limit\w*|max(?:imum)?|minimum|by law|rule|policy|prohibited|without)\b|^no\b"
)
_YOURS = regex(r"\byour\b", re.IGNORECASE)
_WE = frozenset(["i", "we"])
_BINDING_SELF = regex(
    r"\b(?:must|mustn't|not allowed|may not|may only|have to|required|can't|cannot|forbidden|prohibited|allerg\w+"
    r"|by law|rule)\b"
)
"""What binds people in what they say of themselves; "I never fly" is a habit, which they may change."""
_BOUND = regex(
    r"(?:i|we)(?: am| are|'m|'re)? (?:must|mustn't|have to|may not|cannot|can't|not allowed|allergic|forbidden"
    r"|prohibited)\b(?! (?:stand|wait|help|say|admit|confess))"
)
"""The same at its beginning, where it binds whatever follows: "I must not eat nuts" is nothing that somebody likes."""
_PREFERENCE = regex(
    r"\b(?:prefer\w*|like|love|hate|enjoy|favou?r\w*|rather|can't stand|call me|i want|i'd|my favou?rite"
    r"|best for me|for me|to me|please|drink|eat)\b|^(?:give|use|keep|answer|reply|speak|write|explain"
    r"|sign|put|send|avoid|format|address|show|make|vegetarian|window)\b"
)


_GIVEN_UP = regex(r"(?:i|we)(?:'ve| have)? (?:stopped|quit|given up|gave up) \w+ing\b")
"""Tells what somebody no longer does, which is no result."""


def candidate_of(statement: str, said: Said) -> Candidate:
    """Return a statement, in the words of what was said, as it may be believed."""
    words, by = parser.words_of(trimmed(statement)), said.by
    # What a tool or an agent calls "your phone plan" is what its user calls "my phone plan".
    stated = assertion_of(statement if by is Voice.USER else _YOURS.sub("my", statement), said.at)
    memory_type = _type_of(words, by, stated.assertion)
    explicit = by is Voice.USER and memory_type is not MemoryType.OUTCOME
    return Candidate(
        content=trimmed(statement),
        memory_type=memory_type,
        source=Source.EXPLICIT if explicit else Source.LEARNED,
        confidence=_CONFIDENCE.get(by, _CONFIDENCE[Voice.TOOL]),
        assertion=stated.assertion,
        names=aliases_of(statement),
        valid_from=stated.valid_from,
        valid_until=stated.valid_until,
    )


def _type_of(words: str, by: Voice, asserted: Assertion | None) -> MemoryType:
    of_self = asserted is not None and not _WE.isdisjoint((asserted.subject, asserted.attribute.split()[0]))
    no_longer = of_self and asserted is not None and asserted.negated and asserted.revises
    own = by is Voice.USER and (no_longer or bool(_PREFERENCE.search(words) or _GIVEN_UP.match(words)))
    if stability.is_outcome(words) and not own:
        return MemoryType.OUTCOME
    if by is Voice.USER and _BOUND.match(words):
        return MemoryType.CONSTRAINT
    if _PREFERENCE.search(words):
        return MemoryType.PREFERENCE
    binding = _BINDING_SELF if of_self else _CONSTRAINT
    return MemoryType.CONSTRAINT if binding.search(words) else MemoryType.FACT
