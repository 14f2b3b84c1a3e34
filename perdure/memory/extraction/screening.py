"""Takes private data and secrets out of a text, in any language, before it is kept anywhere. Pure.

What is found is what kept libraries know (python-stdnum, phonenumbers, detect-secrets), what the text itself names, and
what it gives as the answer to a question: an order's number, a version, a port, a commit or a book's ISBN is neither
private nor secret.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from perdure.memory.extraction.findings import (
    access,
    casual,
    codes,
    labelled_numbers,
    national_ids,
    numbers,
    passwords,
    personal,
    pins,
    remainder,
    tokens,
)
from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind, disjoint, folded
from perdure.memory.extraction.grounds.asked_values import SPEAKER
from perdure.memory.extraction.grounds.short_answers import given_kind
from perdure.values.episodes import DRAFT, LONGEST

_DETECTORS: tuple[Callable[[FoldedText], Iterator[Finding]], ...] = (
    tokens.tokens,
    passwords.passwords,
    personal.emails,
    personal.births,
    national_ids.national_ids,
    numbers.ibans,
    numbers.cards,
    numbers.labelled_cards,
    numbers.ip_addresses,
    numbers.phones,
    access.access,
    casual.casual,
    codes.openings,
    codes.told_numbers,
    codes.phrases,
    labelled_numbers.personal_numbers,
    labelled_numbers.spoken_numbers,
)

_BESIDE_DIGITS: tuple[Callable[[FoldedText], Iterator[Finding]], ...] = (
    passwords.keys,
    pins.pins,
    personal.addresses,
    codes.codes,
    labelled_numbers.plates,
)
"""What finds nothing in a text without a digit."""

_ROUNDS = 4
"""What is left is screened again, since taking something out can leave a label next to another value. No text has been
seen that still had findings after so many rounds; what they found is taken out, and the search ends."""


_TELLING = 6
"""Characters from which on a value that stands in a text twice is the same one: a PIN's four digits may be a year."""


class Screened(NamedTuple):
    """A text without the private data and secrets that were in it."""

    text: str
    """The text, in which a word in brackets stands for each finding: "[email]"."""
    kinds: tuple[Kind, ...] = ()
    """What was found, each kind once, in the order of the text."""
    says_something: bool = True
    """Whether what is left still states something, apart from "my card is"."""


def brief(text: str) -> str:
    """Return an episode's text: without private data and secrets, and then cut, so that no part of one is left."""
    if len(text) <= LONGEST:
        return screen(text).text[:LONGEST]
    return screen(text[:DRAFT]).text[: LONGEST - DRAFT][:LONGEST]


def brief_end(text: str) -> str:
    """Return the end of what was said, where its question stands; as ``brief`` returns the beginning of a text."""
    if len(text) <= LONGEST:
        return screen(text).text[-LONGEST:]
    return screen(text[-DRAFT:]).text[DRAFT - LONGEST :][-LONGEST:]


def brief_before(before: str) -> str:
    """Return what was said before something as ``brief_end`` does, behind who said it: "agent: What is your PIN?"."""
    speaker = match.group() if (match := SPEAKER.match(before)) else ""
    return f"{speaker}{brief_end(before.removeprefix(speaker))}"


def answered(text: str, before: str) -> str:
    """Return a text as it is, or what stands for all of it where it gives the private data that was asked for."""
    return screen(text, before=before).text if before and given_kind(text, before) else text


def screen(text: str, allow: Iterable[str] = (), before: str = "") -> Screened:
    """Take private data and secrets out of a text.

    Args:
        text: Any text, in any language, of any length: time grows in proportion to it.
        allow: What stays: values as they are written, and ``@example.com`` for all addresses of a domain. Letters count
            without case.
        before: What was said before it. A text that gives the private data or the secret that this asks for is taken
            out as a whole: "2958" after "What is your PIN?".
    """
    allowed = tuple(value.casefold() for value in allow)
    kinds: dict[Kind, None] = {}
    given = text
    for _ in range(_ROUNDS):
        found = [finding for finding in _findings(text) if not _is_allowed(text[finding.start : finding.end], allowed)]
        if not found:
            break
        kinds.update(dict.fromkeys(finding.kind for finding in found))
        text = _without(text, found)
    unread = remainder.TAKEN_OUT.sub("", given).strip()
    if before and unread and (kind := given_kind(_without_allowed(given, allowed), before)):
        kinds = kinds or {kind: None}
        return Screened(text=" ".join(f"[{one}]" for one in kinds), kinds=tuple(kinds), says_something=False)
    return Screened(text=text, kinds=tuple(kinds), says_something=not kinds or remainder.says_something(text))


def _findings(text: str) -> list[Finding]:
    read = folded(text)
    detectors = _DETECTORS + (_BESIDE_DIGITS if read.has_digits else ())
    found = disjoint(finding for detect in detectors for finding in detect(read))
    return disjoint([*found, *_repeated(text, found)])


def _repeated(text: str, found: list[Finding]) -> Iterator[Finding]:
    """Yield where what was found stands again, without the label that gave it away."""
    values = {text[finding.start : finding.end]: finding.kind for finding in found}
    for value, kind in values.items():
        if len(value) >= _TELLING and text.count(value) > 1:
            for match in re.finditer(re.escape(value), text):
                yield Finding(match.start(), match.end(), kind)


def _is_allowed(written: str, allowed: tuple[str, ...]) -> bool:
    plain = written.casefold().strip()
    return any(plain == value or (value.startswith("@") and plain.endswith(value)) for value in allowed)


def _without_allowed(text: str, allowed: tuple[str, ...]) -> str:
    """Return an answer without the values that are not private, whatever was asked for."""
    for value in allowed:
        start = r"[\w.+-]*" if value.startswith("@") else ""
        text = re.sub(rf"{start}{re.escape(value)}", "it", text, flags=re.IGNORECASE)
    return text


def _without(text: str, findings: list[Finding]) -> str:
    parts: list[str] = []
    at = 0
    for finding in findings:
        parts += text[at : finding.start], f"[{finding.kind}]"
        at = finding.end
    return "".join((*parts, text[at:]))
