"""A pattern that is not asked, because a text lacks a sign, could not have matched: it takes that sign to match."""

import importlib
import re
from typing import Any

import pytest

from perdure.memory.extraction.findings import (
    access,
    codes,
    labelled_numbers,
    national_ids,
    passwords,
    personal,
    pins,
    tokens,
)

_syntax: Any = importlib.import_module("re._parser")
_DIGITS = frozenset(map(ord, "0123456789"))
NUMBERED = (
    *(pattern for pattern, _ in access.NUMBERED),
    *(codes.NUMBERED + pins.NUMBERED + personal.NUMBERED),
    *(labelled_numbers.PERSONAL + labelled_numbers.PLATES + national_ids.UNCHECKED),
    *(national_ids.form_of(name) for name in national_ids.FORMS if name not in national_ids.IN_LETTERS),
)
SIGNED = (
    *((pattern, sign) for sign, pattern in passwords.MADE_UP if sign),
    (tokens.ASSIGNED_HEX, "="),
    *((pattern, "@") for pattern, _ in access.HANDLES),
    (personal.EMAILS_DISGUISED[0][1], "@"),
)


def takes(parsed: Any, signs: frozenset[int]) -> bool:
    """Return whether whatever a parsed pattern matches holds one of these characters."""
    return any(_part_takes(str(kind), value, signs) for kind, value in parsed)


def _part_takes(kind: str, value: Any, signs: frozenset[int]) -> bool:
    match kind:
        case "LITERAL":
            return value in signs
        case "IN":
            return all(_is_of(str(one), what, signs) for one, what in value)
        case "BRANCH":
            return all(takes(one, signs) for one in value[1])
        case "SUBPATTERN":
            return takes(value[-1], signs)
        case "MAX_REPEAT" | "MIN_REPEAT":
            return value[0] > 0 and takes(value[2], signs)
        case "ASSERT":
            return takes(value[1], signs)
        case _:
            return False


def _is_of(kind: str, value: Any, signs: frozenset[int]) -> bool:
    match kind:
        case "LITERAL":
            return value in signs
        case "RANGE":
            return signs.issuperset(range(value[0], value[1] + 1))
        case _:
            return str(value) == "CATEGORY_DIGIT" and signs >= _DIGITS


@pytest.mark.parametrize("pattern", NUMBERED, ids=lambda pattern: pattern.pattern[:40])
def test_what_is_looked_for_only_beside_digits_holds_one(pattern: re.Pattern[str]) -> None:
    assert takes(_syntax.parse(pattern.pattern, pattern.flags), _DIGITS)


@pytest.mark.parametrize(("pattern", "sign"), SIGNED, ids=lambda one: str(getattr(one, "pattern", one))[:40])
def test_what_is_looked_for_only_beside_a_sign_holds_it(pattern: re.Pattern[str], sign: str) -> None:
    assert takes(_syntax.parse(pattern.pattern, pattern.flags), frozenset([ord(sign)]))


def test_a_pattern_that_may_lack_it_is_told_from_one_that_does_not() -> None:
    for pattern in (r"\d?", r"[\da]", r"a|1", r"(?!\d)a", r"\w"):
        assert not takes(_syntax.parse(pattern), _DIGITS), pattern
    for pattern in (r"a\d", r"(?:1|2)+", r"(?=x*\d)\w+", r"[0-4]"):
        assert takes(_syntax.parse(pattern), _DIGITS), pattern


def test_a_disguised_address_holds_what_is_looked_for_first() -> None:
    for text in (
        "pia [at] example dot com",
        "pia arroba example.com",
        "pia_at_example.com",
        "moira dot kelly at fastmail dot com",
    ):
        found = [(part.search(text), pattern.search(text)) for part, pattern in personal.EMAILS_DISGUISED]
        assert any(whole for _, whole in found)
        assert all(part for part, whole in found if whole), text
