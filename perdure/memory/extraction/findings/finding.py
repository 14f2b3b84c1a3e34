"""What screening finds in a text: private data and secrets, each with its place. Pure values."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perdure.memory.extraction.patterns import regex
from perdure.model import OpenEnum
from perdure.values.statements import Ground

DIGIT = r"(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine)"
"""A pattern for a digit that is written as a word."""


class Kind(OpenEnum):
    """What a finding is; its value stands in brackets where the finding was. An unknown kind is a secret."""

    EMAIL = "email"
    CARD = "card number"
    IBAN = "IBAN"
    PHONE = "phone number"
    IP = "IP address"
    NATIONAL_ID = "national id"
    ADDRESS = "home address"
    BIRTH = "date of birth"
    PLATE = "number plate"
    PERSONAL_NUMBER = "personal number"
    ACCOUNT = "account name"
    KEY = "key"
    PASSWORD = "password"  # noqa: S105  the name of a kind
    PIN = "PIN"

    @property
    def ground(self) -> Ground:
        """Why a finding of this kind is not kept: it identifies a person, or it gives access to something."""
        return Ground.PRIVATE if self in _PRIVATE else Ground.SECRET


_PRIVATE = frozenset(
    {
        *(Kind.EMAIL, Kind.CARD, Kind.IBAN, Kind.PHONE, Kind.IP, Kind.NATIONAL_ID, Kind.ADDRESS, Kind.BIRTH),
        *(Kind.PLATE, Kind.PERSONAL_NUMBER, Kind.ACCOUNT),
    }
)


class Finding(NamedTuple):
    """A part of a text, from ``start`` to before ``end``."""

    start: int
    end: int
    kind: Kind


_DIGITS = regex(r"\d")


class FoldedText(NamedTuple):
    """A text as detectors read it, and where each of its characters stands in the original.

    Digits of all scripts are ASCII digits, all spaces and dashes are the plain ones, full-width forms are narrow, and
    characters that nobody sees are left out, so that none of these hides a finding.
    """

    text: str
    places: Sequence[int]

    @property
    def has_digits(self) -> bool:
        """Whether there is a digit: of sentences, one in fifteen has one, and most of what is looked for."""
        return _DIGITS.search(self.text) is not None

    def found(self, start: int, end: int, kind: Kind) -> Finding:
        """Return what was found in the folded text as a finding in the original."""
        return Finding(self.places[start], self.places[end - 1] + 1, kind)


_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")


def folded(text: str) -> FoldedText:
    """Return a text as detectors read it; no longer than it was."""
    if text.isascii():
        return FoldedText(text, range(len(text)))
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isascii():
            plain = character
        elif unicodedata.category(character) == "Cf":
            continue
        else:
            plain = _plain(character)
        characters.append(plain)
        places.append(place)
    return FoldedText("".join(characters), tuple(places))


def _plain(character: str) -> str:
    if character in _DASHES:
        return "-"
    if character.isspace():
        return " "
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    narrow = unicodedata.normalize("NFKC", character)
    return narrow if len(narrow) == 1 else character


def disjoint(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in their order, where those that overlap are one, of the kind of the longest."""
    merged: list[tuple[Finding, int]] = []
    for finding in sorted(findings):
        length = finding.end - finding.start
        if merged and finding.start < merged[-1][0].end:
            last, longest = merged[-1]
            kind = finding.kind if length > longest else last.kind
            merged[-1] = (Finding(last.start, max(last.end, finding.end), kind), max(longest, length))
        else:
            merged.append((finding, length))
    return [finding for finding, _ in merged]
