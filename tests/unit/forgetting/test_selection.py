"""What a sweep lets go: pure rules."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.forgetting import Guard
from perdure.forgetting.selection import select
from perdure.records import Lane, Record
from perdure.retention import RetentionRules

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RULES = RetentionRules()


def entry(name: str, **more: object) -> Record:
    plain = {
        "id": name,
        "text": name,
        "lane": Lane.PATTERN,
        "key": name,
        "payload": 1,
        "first_seen": NOW,
        "last_seen": NOW,
    }
    return Record.model_validate(plain | more)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, (None, "")),
        ({"importance": None}, (None, "")),
        ({"importance": 0.0}, (None, "")),
        ({"valid_until": NOW}, (NOW, "expired")),
        ({"confidence": 0.29}, (NOW, "confidence below 0.3")),
        ({"confidence": 0.3}, (None, "")),
        ({"confidence": 0.1, "valid_until": NOW - timedelta(days=1)}, (NOW - timedelta(days=1), "expired")),
        ({"confidence": 0.1, "kept_at": NOW}, (None, "")),
    ],
)
def test_when_the_rules_let_go(more: dict[str, object], expected: tuple[datetime | None, str]) -> None:
    assert RULES.date(entry("a", **more)) == expected


def test_rules_that_changed_have_another_version() -> None:
    assert RULES.version != RetentionRules(minimum_confidence=0.2).version


def test_todays_rules_have_the_last_word_over_an_old_date() -> None:
    kept = entry("a", confidence=0.25, forget_after=NOW, rules_version="old")
    chosen = select(
        "t",
        due=[kept],
        purgeable=[],
        stored=1,
        rules=RetentionRules(minimum_confidence=0.2),
        guard=Guard(),
        approved=False,
        limit=10,
        at=NOW,
    )
    assert chosen.tombstone == ()
    assert [item.id for item in chosen.backdated] == ["a"]


@given(due=st.integers(0, 1000), stored=st.integers(0, 1000))
def test_the_guard_holds_exactly_what_is_many_and_a_large_share(due: int, stored: int) -> None:
    held = bool(Guard(fraction=0.3, free=20).objection(due, stored))
    assert held == (due > 20 and due > 0.3 * stored)
