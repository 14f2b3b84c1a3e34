"""Words in the form in which they are compared, and phrases by what they tell: when, where, how much. Pure."""

import unicodedata
from collections.abc import Iterable, Sequence

from perdure.memory.extraction.lexicon import (
    ARTICLES,
    CURRENCIES,
    DAY_PARTS,
    FREQUENCIES,
    LANGUAGES,
    MONTHS,
    NUMBERS,
    PREPOSITIONS,
    SEASONS,
    SHORT_DAYS,
    SHORT_MONTHS,
    UNITS,
    WEEKDAYS,
)
from perdure.memory.extraction.patterns import regex
from perdure.words import stem

Facets = dict[str, tuple[str, ...]]
"""What a phrase tells, by kind: "at 9:30 on mondays in room 4" tells a clock time, a day and a place."""

_CLOCK = regex(r"^(\d{1,2})(?:[:.h](\d\d))?\s*(am|pm|a\.m|p\.m)?$")
_OF_PLACE = frozenset(
    [
        "in",
        "on",
        "at",
        "behind",
        "near",
        "beside",
        "inside",
        "outside",
        "under",
        "above",
        "below",
        "between",
        "over",
        "opposite",
        "within",
    ]
)
_DROPPED = ARTICLES | frozenset(["my", "our", "there", "please", "kindly", "so", "very", "and"])
_DAY_OF_MONTH = regex(r"^\d{1,2}(?:st|nd|rd|th)$")


def normalised(words: Iterable[str]) -> list[str]:
    """Return words in one form: in lower case, without articles, numbers as digits, times of day as "@9:30"."""
    lower = [_plain(word) for word in words]
    found: list[str] = []
    skip = 0
    for place, word in enumerate(lower):
        if skip:
            skip -= 1
            continue
        if not word or word in _DROPPED:
            continue
        after = lower[place + 1] if place + 1 < len(lower) else ""
        before = lower[place - 1] if place else ""
        clock, skip = _clock(word, before, after, lower[place + 2] if place + 2 < len(lower) else "")
        found.append(clock or _comparable(word))
    return found


def stemmed(text: str) -> list[str]:
    """Return the words of a normalised text as they are compared: names with digits or signs in them stay whole."""
    return [
        word if word in PREPOSITIONS or word in MONTHS or word in FREQUENCIES or not word.isalpha() else stem(word)
        for word in text.split()
    ]


def is_identifier(word: str) -> bool:
    """Return whether a word is a number or a name with one: what is never near enough to another."""
    return any(character.isdigit() for character in word)


def facets_of(words: Sequence[str]) -> Facets:
    """Return what stemmed words tell, by kind; a place with its preposition."""
    found: dict[str, list[str]] = {}
    kind, told_by = "object", ""
    place = 0
    while place < len(words):
        word = words[place]
        taken = 1
        if word in PREPOSITIONS or word in ("than", "as"):
            kind, told_by = ("place" if word in _OF_PLACE else word), word
        elif word.startswith("@"):
            found.setdefault("clock", []).append(word)
        elif word in WEEKDAYS or word in _PART_STEMS:
            found.setdefault("day", []).append(word)
        elif (
            word in FREQUENCIES
            or word in ("once", "twice", "everi", "each")
            or words[place + 1 : place + 2] == ["time"]
        ):
            taken = _frequency(words, place)
            found.setdefault("frequency", []).extend(words[place : place + taken])
        elif word in MONTHS or word in SEASONS or _DAY_OF_MONTH.match(word):
            found.setdefault("date", []).append(word)
        elif _is_money(word, words[place + 1 : place + 2]):
            taken = 2 if words[place + 1 : place + 2] and words[place + 1] in _CURRENCY_STEMS else 1
            found.setdefault("money", []).extend(words[place : place + taken])
        elif word.replace(".", "").isdigit() and words[place + 1 : place + 2] and words[place + 1] in UNITS | {"minut"}:
            taken = 2
            found.setdefault("duration", []).extend(words[place : place + 2])
        elif word in LANGUAGES and kind == "place" and _ends(words, place):
            found.setdefault("language", []).append(word)
        else:
            if kind == "place" and told_by:
                found.setdefault(kind, []).append(told_by)
                told_by = ""
            found.setdefault(kind, []).append(word)
        place += taken
    return {kind: tuple(of_kind) for kind, of_kind in found.items()}


def _ends(words: Sequence[str], place: int) -> bool:
    """Return whether a phrase ends with a word: "in Swedish", and not "in Swedish kronor"."""
    return place + 1 == len(words) or words[place + 1] in PREPOSITIONS


def _plain(word: str) -> str:
    plain = unicodedata.normalize("NFKC", word).casefold().strip(".,;:!?()[]'\"")
    return plain.removesuffix("'s")


def _comparable(word: str) -> str:
    if word in NUMBERS:
        return NUMBERS[word]
    if word in SHORT_DAYS:
        return SHORT_DAYS[word]
    if word.removesuffix("s") in WEEKDAYS:
        return word.removesuffix("s")
    if word in SHORT_MONTHS and word != "mar":
        return SHORT_MONTHS[word]
    return word


def _clock(word: str, before: str, after: str, next_after: str) -> tuple[str, int]:
    """Return a time of day as it is compared, and how many more words it takes; empty: it is none."""
    if word in ("noon", "midday"):
        return "@12:00", 0
    if word == "midnight":
        return "@0:00", 0
    if word in ("half", "quarter") and after == "past" and (hour := NUMBERS.get(next_after, next_after)).isdigit():
        return f"@{hour}:{'30' if word == 'half' else '15'}", 2
    word = NUMBERS.get(word, word)
    match = _CLOCK.match(word)
    if match is None or int(match[1]) > 24 or int(match[2] or 0) > 59:
        return "", 0
    half = (match[3] or (after if after in ("am", "pm", "a.m", "p.m") else "")).replace(".", "")
    exact = bool(half) or ":" in word or after in ("o'clock", "oclock", "sharp")
    exact = (
        exact
        or (after in ("to", "till", "until") and not before and _hour(next_after))
        or (after in ("to", "till", "until") and before in ("be", "is", "are", "become", "from") and _hour(next_after))
    )
    if not exact and (before not in ("at", "to", "from", "until", "till") or "." in word or _counts(after)):
        return "", 0
    hour = int(match[1]) + (12 if half == "pm" and int(match[1]) < 12 else 0)
    hour = 0 if half == "am" and hour == 12 else hour
    return f"@{hour}:{match[2] or '00'}", int(not match[3] and (bool(half) or after in ("o'clock", "oclock", "sharp")))


def _hour(word: str) -> bool:
    """Return whether a word may be an hour: what a range of hours ends with."""
    return word.isalnum() and NUMBERS.get(word, word).isdigit() and int(NUMBERS.get(word, word)) <= 24


def _counts(after: str) -> bool:
    """Return whether a word after a number makes it a number of something."""
    return bool(after) and after not in PREPOSITIONS and after.removesuffix("s") not in WEEKDAYS and after not in (
        "every", "sharp", "each", "daily", "instead", "now", "again", "and", "in",
    )  # fmt: skip


def _frequency(words: Sequence[str], place: int) -> int:
    taken = 1
    while taken < 4 and place + taken < len(words):
        word = words[place + taken]
        if not (
            word.isdigit()
            or word in UNITS
            or word in WEEKDAYS
            or word in ("time", "per", "other", "second", "third", "minut", "everi")
        ):
            break
        taken += 1
    return taken


_PART_STEMS = frozenset(stem(part) for part in DAY_PARTS)
_CURRENCY_STEMS = frozenset(stem(name) for name in CURRENCIES)


def _is_money(word: str, after: Sequence[str]) -> bool:
    if word[:1] in "$€£" or word[-1:] in "$€£":
        return True
    return word.replace(".", "").replace(",", "").isdigit() and bool(after) and after[0] in _CURRENCY_STEMS
