"""What somebody is seen to do, as an agent or a tool tells it: a habit that is inferred from acts. Pure."""

import re

from perdure.memory.extraction.patterns import regex

_SOMEBODY = r"(?:the |this |our |my )?(?:user|customer|client|caller|guest|subscriber|he|she)"
_OFTEN = (
    r"(?:usually|often|always|mostly|typically|generally|normally|commonly|regularly|frequently|routinely|repeatedly"
    r"|sometimes|occasionally|rarely|seldom|hardly ever|never|almost always|most of the time|every time|each time)"
)
_STATES = (
    r"(?:prefer|like|love|hate|enjoy|want|wish|need|ask|request|say|tell|told|state|insist|require|mean|mention|confirm"
    r"|expect|is\b|are\b|was\b|has\b|have\b|had\b|must\b|can\b|can't|cannot|may\b)"
)
"""Verbs of what somebody says, wants or is, which needs no second look."""
_HABIT = regex(
    rf"^{_SOMEBODY} (?:{_OFTEN} (?!{_STATES})|(?:tends|is inclined) to (?!{_STATES})"
    rf"|keeps (?!{_STATES})\w+ing\b|has a habit of\b|is in the habit of\b"
    # "Runs a bakery that never closes" is of the bakery.
    rf"|(?!{_STATES})\w+s (?:(?:(?!\b(?:that|which|who)\b)[^,;.]){{1,60}} )?{_OFTEN}\b)"
    rf"|^{_OFTEN},? {_SOMEBODY} (?!{_STATES})"
)
_ACT = regex(
    rf"^{_SOMEBODY} (?:has |just |again )?(?:booked|reordered|clicked|skipped|ignored|dismissed|searched|scrolled)\b"
    rf"|^{_SOMEBODY} (?:has |just |again )?(?:picked|chose|chosen|ordered|selected|opened)\b"
    rf"(?:(?!\b(?:that|which|who)\b)[^;.])*\b(?:{_OFTEN}|again)\b"
    rf"|^{_SOMEBODY} (?:has )?again (?:picked|chose|chosen|ordered|selected|opened)\b"
)
"""What somebody did, which may be chance. What they chose or ordered is a decision, unless they do it over again."""
_FREQUENCY = regex(
    rf"\b{_OFTEN}\b,?|\b(?:(?:tends|is inclined) to|keeps|(?:has a|is in the) habit of|again)\b", re.IGNORECASE
)
_SELDOM = regex(r"\b(?:rarely|seldom|hardly ever|never)\b", re.IGNORECASE)


def is_behaviour(words: str) -> bool:
    """Whether it tells what somebody does or did, and neither what they say, want or are.

    Args:
        words: A sentence in small letters, see ``reading.words_of``.
    """
    return bool(_HABIT.search(words) or _ACT.match(words))


def is_seldom(text: str) -> bool:
    """Whether it tells what somebody does not do."""
    return bool(_SELDOM.search(text))


def without_frequency(text: str) -> str:
    """Return a sentence without how often it says that something is done.

    >>> without_frequency("The user usually books window seats.")
    'The user books window seats.'
    """
    return " ".join(_FREQUENCY.sub(" ", text).split())
