"""What a caller gets of a recalled entry: what it is, and why it was recalled, in words without content."""

from datetime import timedelta
from typing import Any

import pytest

from perdure.memory.recall.items import explained, recalled, sharing, with_others
from perdure.memory.recall.query import FoundBy, RecalledItem
from perdure.memory.recall.ranking import PROFILES, Scored, profile_of
from perdure.values.entries import Entry, Lane, Memory, MemoryType, Record, Turn
from perdure.values.strategies import ProfileName
from tests.support.memories import NOW, memory

SEEN: dict[str, Any] = {"first_seen": NOW - timedelta(days=3), "last_seen": NOW, "seen": 2}
MEMORY = Memory(
    id="mem_1", text="Deploys wait.", memory_type=MemoryType.CONSTRAINT, pinned=True, confidence=0.8, **SEEN
)
RECORD = Record(id="rec_1", text="t\nu", lane=Lane.PATTERN, key="k", payload={"n": 1}, **SEEN)
TURN = Turn(id="turn_1", text="Hello.", speaker="Ada", session="s", position=4, **SEEN)


def item(name: str) -> RecalledItem:
    return recalled(Scored(entry=memory(name), score=0.5, parts={}), FoundBy.SEMANTIC, "w")


@pytest.mark.parametrize(
    ("entry", "own"),
    [
        (MEMORY, {"memory_type": MemoryType.CONSTRAINT, "pinned": True}),
        (RECORD, {"lane": Lane.PATTERN, "key": "k", "payload": {"n": 1}}),
        (TURN, {"speaker": "Ada", "session": "s", "position": 4}),
    ],
)
def test_each_kind_of_entry_is_recalled_with_what_it_alone_has(entry: Entry, own: dict[str, object]) -> None:
    found = recalled(Scored(entry=entry, score=0.5, parts={"cosine": 0.4}), FoundBy.SEMANTIC, "meaning 0.40")
    assert {name: getattr(found, name) for name in own} == own
    assert (found.id, found.kind.value, found.score, found.found_by) == (entry.id, entry.kind, 0.5, FoundBy.SEMANTIC)
    assert found.why == "meaning 0.40; seen 2×, last 2026-05-01"
    assert (found.seen, found.last_seen, found.version, found.parts) == (2, NOW, entry.version, {"cosine": 0.4})
    assert found.confidence == entry.confidence


def test_a_confidence_that_has_faded_is_the_one_that_is_told() -> None:
    assert recalled(Scored(entry=MEMORY, score=1, parts={"confidence": 0.3}), FoundBy.SEMANTIC, "").confidence == 0.3


def test_a_score_is_explained_by_its_parts() -> None:
    profile = profile_of(ProfileName.READER)
    parts = {"cosine": 0.4, "bm25": 0.25, "relevance": 0.7, "quality": 0.9}

    def told(entry: Entry, **given: float) -> str:
        return explained(Scored(entry=entry, score=1, parts=given), profile)

    assert told(MEMORY, **parts) == f"meaning 0.40, words 0.25: relevance 0.70, quality 0.90 ({profile.name})"
    del parts["bm25"]
    assert told(MEMORY, **parts) == f"meaning 0.40: relevance 0.70, quality 0.90 ({profile.name})"
    assert told(TURN, words=0.5, meaning=0.0, names=0.25) == "said: words 0.50, names 0.25"


def test_an_unknown_profile_orders_by_relevance() -> None:
    assert profile_of(ProfileName("of-a-newer-build")) == PROFILES["relevance-first"]


def test_others_follow_once() -> None:
    found = with_others([item("a"), item("b")], [item("b"), item("c")])
    assert [one.id for one in found] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("exact", "found", "limit", "kept"),
    [
        ("abc", "xyz", 4, "abxy"),
        ("abc", "xyz", 5, "abcxy"),
        ("abcde", "x", 4, "abcx"),
        ("a", "xyz", 3, "axy"),
        ("", "xyz", 2, "xy"),
    ],
)
def test_neither_what_is_exact_nor_what_was_found_starves_the_other(
    exact: str, found: str, limit: int, kept: str
) -> None:
    assert "".join(one.id for one in sharing([*map(item, exact)], [*map(item, found)], limit)) == kept
