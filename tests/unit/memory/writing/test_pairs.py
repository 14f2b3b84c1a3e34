"""What is done with two ordinary statements that can both be true, and with two that cannot.

No rule of words is right about all of them. A replaced statement is lost to recall, and one that was kept beside its
contradiction is merely noise: so the first is bounded more closely. The bounds are what was measured.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from perdure.memory.extraction.statements import stated
from perdure.values.entries import Source
from perdure.values.items import MemoryItem
from perdure.values.jobs import Decision
from tests.support.stories import START, written

_PAIRS = Path(__file__).parent / "pairs"


def _decision(first: str, second: str) -> Decision:
    stored, _ = written("u", _told(first, day=0), stored={})
    _, [planned] = written("u", _told(second, day=3), stored=stored)
    return planned.decision


def _told(text: str, *, day: int) -> MemoryItem:
    at = START + timedelta(days=day)
    return stated(MemoryItem(content=text, source=Source.EXPLICIT, occurrence=f"turn {day}", occurred_at=at))


@pytest.mark.parametrize(
    ("name", "expected", "wrong"),
    [
        # Each of these was replaced once, and would be again if a rule reached as far as it did.
        ("apart", {Decision.INSERT}, 0),
        ("both_true", {Decision.INSERT}, 79),
        ("contradictions", {Decision.SUPERSEDE, Decision.HOLD}, 40),
    ],
)
def test_few_pairs_of_statements_are_taken_for_what_they_are_not(
    name: str, expected: set[Decision], wrong: int
) -> None:
    pairs = [line.split(" | ") for line in _PAIRS.joinpath(f"{name}.txt").read_text("utf-8").splitlines()]
    found = [f"{first} | {second}" for first, second in pairs if _decision(first, second) not in expected]
    assert len(found) <= wrong, "\n".join(found)
    assert len(pairs) > 4 * wrong
