"""Other names of a thing that a sentence tells: "Kubernetes (k8s)", "the build box, aka Bertha". Pure."""

import re

from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.proper import can_name, without_opening
from perdure.memory.extraction.speech import LONGEST
from perdure.values.entries import MOST_NAMES

_PART = r"[\w.+#/-]{0,60}"
"""Bounded, as what is searched may be one word of thousands of letters."""
_START = r"(?<![\w.+#/-])"
_WORD = rf"{_START}(?:\w{_PART}[\w+#]|\w)"
_NAME = rf"(?:[\"“][^\"”\n]{{1,60}}[\"”]|{_START}[A-Z]{_PART}(?: [A-Z]{_PART}){{0,3}}|{_WORD})"
_THE = r"(?:(?:the|a|an|my|our) )?"
_CALLED = regex(
    rf"(?P<one>{_NAME}),? \(?(?:aka|a\.k\.a\.|also (?:called|known as)) {_THE}(?P<other>{_NAME})", re.UNICODE
)
_SHORT = regex(rf"(?P<other>{_NAME}),? (?:is |being )?short for {_THE}(?P<one>{_NAME})")
_BRACKETED = regex(rf"(?P<before>{_START}(?:[\w-]{{1,60}} ){{0,4}}[\w.+#-]{{1,60}}) \((?P<other>\w{_PART})\)")
_LEAST = 2
"""Letters of an abbreviation in brackets; "(s)" is a plural."""


def aliases_of(text: str) -> tuple[str, ...]:
    """Return the names that a sentence tells for one thing: the thing's own, where it is written as one, and others.

    What stands in brackets is another name only as an abbreviation of the words before it.

    >>> aliases_of("Kubernetes (k8s) runs in Leeds, 30 minutes (about 3 km) away.")
    ('Kubernetes', 'k8s')
    """
    found: dict[str, None] = {}
    if len(text) > LONGEST:
        return ()
    for pattern in (_CALLED, _SHORT):
        for match in pattern.finditer(text):
            one, other = (match[name].strip('"“”').rstrip(".") for name in ("one", "other"))
            one = without_opening(one)
            # Of "it's also called a day" nobody can tell what is called so.
            is_told = (" " in other or can_name(other)) and (one or _is_name(other))
            if is_told:
                found |= dict.fromkeys([one, other] if _is_name(one) else [other])
    for match in _BRACKETED.finditer(text):
        if (whole := _abbreviated(match["before"].split(), match["other"])) and can_name(match["other"]):
            found |= dict.fromkeys([whole, match["other"]])
    return tuple(found)[:MOST_NAMES]


def _is_name(written: str) -> bool:
    """Return whether a word that stands alone is a name, and no noun like "server"."""
    return can_name(written) and (written != written.casefold() or " " in written or not written.isalpha())


def _abbreviated(before: list[str], short: str) -> str:
    """Return the words that an abbreviation stands for; empty: none of those before it."""
    letters = [letter for letter in short.casefold() if letter.isalpha()]
    if len(letters) < _LEAST or not before:
        return ""
    initials = before[-len(letters) :]
    if can_name(initials[0]) and [word[0].casefold() for word in initials] == letters:
        return " ".join(initials)
    rest = iter(before[-1].casefold())
    is_part = before[-1][0].casefold() == letters[0] and all(letter in rest for letter in letters)
    return before[-1] if is_part and before[-1].casefold() != short.casefold() else ""
