"""Which items are observations of behaviour, and which of them observe the same. Pure.

What an agent infers from what somebody did may be chance: it is believed when it was observed in two places. What
people state about themselves, and what came of something, is believed when it is said once.
"""

import re
from collections.abc import Iterator

from perdure.memory.extraction.grounds.behaviour import is_behaviour, is_seldom, without_frequency
from perdure.memory.extraction.lexicon import AUXILIARIES, DETERMINERS, NEGATIONS
from perdure.memory.extraction.openers import trimmed
from perdure.memory.extraction.parser import sentences, words_of
from perdure.memory.extraction.phrases import normalised, stemmed
from perdure.memory.extraction.speech import spoken, tokens_of
from perdure.memory.extraction.verbs import FORMS
from perdure.memory.writing.provenance import is_conclusion
from perdure.values.entries import MemoryType
from perdure.values.items import MemoryItem

_DENIALS = NEGATIONS - {"without"}
"""Words that reverse what is done; "without Kim" says how it is done."""
_LIGHT = AUXILIARIES | DETERMINERS | _DENIALS | {"just", "also"}
_NUMBER = re.compile(r"(?<=\S)(/turn\[\d+\]\.call\[\d+\])?#\d+$")
"""Distinguishes the statements of one message, and what a model remembers in one task, from each other. No step of a
skill has a path that ends with a number in brackets."""
_ONCE = frozenset({MemoryType.OUTCOME, MemoryType.CONSTRAINT})
"""Types that need no second observation: outcomes and constraints."""


def behaviour_of(item: MemoryItem) -> tuple[str, ...]:
    """Return the behaviour that an item reports, in the words that two observations of it share.

    Empty: it reports none, or somebody has stated it, or it is an outcome or a constraint.
    """
    if not is_conclusion(item) or item.memory_type in _ONCE:
        return ()
    parts = sentences(item.content)
    if not parts or not all(is_behaviour(words_of(trimmed(part))) for part in parts):
        return ()
    return tuple(word for part in parts for word in _key(part))


def place_of(occurrence: str) -> str:
    """Return where something was observed: what one message, step or model tells twice was seen once.

    >>> place_of("chat 7/3#1")
    'chat 7/3'
    """
    return _NUMBER.sub("", occurrence)


def _key(sentence: str) -> Iterator[str]:
    """Yield whether it is seldom done, and what, in its order: "from Leeds to Hull" is not the way back."""
    text = without_frequency(sentence)
    plain, _ = spoken(text)
    tokens = tokens_of(plain or text)
    denials = sum(token.lower() in _DENIALS for token in tokens)
    # Who usually doesn't eat meat seldom eats it.
    yield "seldom" if is_seldom(sentence) != (denials % 2 == 1) else ""
    words = normalised(token for token in tokens if token.lower() not in _LIGHT)
    yield from [one for word in words for one in stemmed(FORMS.get(word, word))] or [text.casefold()]
