"""Which words can be a name of something at all. Pure."""

import re

from perdure.memory.extraction.lexicon import DETERMINERS, PREPOSITIONS, PRONOUNS, word_list
from perdure.memory.extraction.patterns import regex
from perdure.words import STOP_WORDS

_CALENDAR = word_list(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed weds thu thur thurs fri sat sun january"
    " february march april june july august september october november december jan feb mar apr jun jul aug sep sept"
    " oct nov dec today tomorrow yesterday tonight christmas easter weekend"
)
"""May is a stop word, as the verb is."""
_OF_COURSE = word_list(
    "also again always and because besides both bye called cheers dear even else every finally first further goodbye"
    " hello hey hi however last like many maybe mostly never next none nothing now often ok okay once one only or other"
    " others perhaps please quite really said since so sometimes still such thanks the therefore though today too"
    " two until usually up very well while yes yet asap btw eta etc fyi imo tba tbc tbd am pm utc gmt cet est mr mrs ms"
    " dr e-mail email"
)
"""Words of any talk, which name nothing."""
_NAMELESS = STOP_WORDS | DETERMINERS | PREPOSITIONS | PRONOUNS | _CALENDAR | _OF_COURSE
_MEASURED = regex(r"[\d.,:/x×+-]+(?:st|nd|rd|th|am|pm|h|s|ms|min|k|m|[kmgt]i?b|k[mg]|cm|mm|gbps|mbps|%|x)?")
_APOSTROPHE = regex(r"['’]")


def can_name(word: str) -> bool:
    """Return whether a word can be a name: no day, month, measure, contraction or word of any talk.

    >>> [word for word in ("k8s", "I'm", "Friday", "10am", "and/or", "O'Brien") if can_name(word)]
    ['k8s', "O'Brien"]
    """
    plain = word.casefold()
    if (
        plain in _NAMELESS
        or plain.removesuffix("s") in _CALENDAR
        or _MEASURED.fullmatch(plain)
        or not any(letter.isalpha() for letter in word)
    ):
        return False
    before, apostrophe, behind = _APOSTROPHE.sub("'", plain).partition("'")
    if apostrophe and (before in _NAMELESS or (before.endswith("n") and behind == "t")):
        return False
    # "and/or", "up-to-date": compounds of words of any talk.
    parts = re.split(r"[-/]", word)
    return len(parts) == 1 or word != plain or _NAMELESS.isdisjoint(parts)


def without_opening(words: str) -> str:
    """Return words from the first one on that can be a name: "Kim" of "On Friday Kim"; empty: there is none."""
    found = words.split()
    while found and not can_name(found[0]):
        found.pop(0)
    return " ".join(found)
