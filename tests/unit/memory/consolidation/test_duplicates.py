from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.consolidation.duplicates import is_duplicate, kept_first, normal
from perdure.memory.updates.merges import merged
from perdure.values.assertions import Assertion
from perdure.values.entries import Memory, MemoryType, Purpose, State
from perdure.values.suspensions import Suspension

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TRAIN = Assertion(subject="train", attribute="i travel", value="by")


def memory(text: str, identifier: str = "mem_1", **fields: Any) -> Memory:
    return Memory(id=identifier, text=text, first_seen=NOW, last_seen=NOW, occurrences=(identifier,), **fields)


def same(one: str, other: str) -> bool:
    found = is_duplicate(memory(one), memory(other, "mem_2"))
    assert found == is_duplicate(memory(other, "mem_2"), memory(one)), "it is the same either way round"
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys happen on Tuesdays.", "On Tuesdays, deploys really happen!"),
        ("The office is in Ghent", "An office is in Ghent."),
        ("Please also use wheels.", "Use wheels"),
    ],
)
def test_the_same_in_other_words(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada prefers Python over JavaScript.", "Ada prefers JavaScript over Python."),
        ("Ada likes peanuts.", "Ada does not like peanuts."),
        ("The data is on db-1.", "The data is on db-2."),
        ("Ada writes C.", "Ada writes C++."),
        ("Deploys happen on Tuesdays.", "Deploys happened on Tuesdays."),
        ("Deploys happen on Tuesdays.", "Deploys happen on Tuesdays?"),
        ("Bob pays Ada.", "Ada pays Bob."),
        ("The limit is 5.", "The limit is -5."),
        ("In Rome, Ada lives, and Bob works.", "Bob works, in Rome, and Ada lives."),
        ("No, deploys happen on Tuesdays.", "Deploys happen on Tuesdays."),
        ("Kim leads, Lee follows.", "Lee follows Kim leads."),
        ("On Mondays, Ada cooks, Bob eats.", "Ada cooks, Bob eats on Mondays."),
    ],
)
def test_what_is_only_alike(one: str, other: str) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True},
        {"memory_type": MemoryType.CONSTRAINT},
        {"memory_type": MemoryType.PREFERENCE},
        {"state": State.SUPERSEDED},
        {"superseded_by": "mem_3"},
        {"scopes": ("work",)},
        {"purpose": Purpose.EXTRACTED},
        {"valid_until": NOW},
        {"valid_from": NOW},
        {"metadata_json": {"a": 1}},
        {"suspended": (Suspension(by="mem_3", start=NOW, until=NOW),)},
        {"assertion": TRAIN},
    ],
    ids=str,
)
def test_what_differs_beside_the_words_keeps_them_apart(fields: dict[str, Any]) -> None:
    assert not is_duplicate(memory("x y"), memory("x y", "mem_2", **fields))
    if "pinned" in fields or MemoryType.CONSTRAINT in fields.values():
        assert not is_duplicate(memory("x y", **fields), memory("x y", "mem_2", **fields))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"revises": True}, True),
        ({"value": "without"}, False),
        ({"subject": "bus"}, False),
        ({"attribute": "we travel"}, False),
        ({"negated": True}, False),
        ({"several": True}, False),
        ({"former": "bus"}, False),
    ],
    ids=str,
)
def test_of_what_is_asserted_the_parts_decide(changes: dict[str, Any], expected: bool) -> None:
    one = memory("I travel by train", assertion=TRAIN)
    other = memory("By train is how I travel", "mem_2", assertion=TRAIN.changed(**changes))
    assert is_duplicate(one, other) == expected


def test_a_memory_is_no_duplicate_of_itself() -> None:
    assert not is_duplicate(memory("x"), memory("x"))


WORD = st.sampled_from(["on", "tuesdays", "not", "ada", "pays", "bob", "5", "-5", "over", ",", "really", "the"])
WORDS = st.lists(WORD, min_size=1, max_size=7)


@given(WORDS, WORDS)
def test_two_that_are_the_same_state_the_same_words(one: list[str], other: list[str]) -> None:
    texts = [" ".join(words) for words in (one, other)]
    if normal(texts[0]) == normal(texts[1]):
        light = {"really", "the", ","}
        assert sorted(word for word in one if word not in light) == sorted(word for word in other if word not in light)


@given(st.integers(1, 9), st.integers(1, 9))
def test_the_one_that_was_seen_more_often_keeps_its_text_and_nothing_is_lost(one: int, other: int) -> None:
    pair = memory("x", "mem_1", seen=one), memory("really x", "mem_2", seen=other)
    first, second = kept_first(*pair)
    assert first.seen >= second.seen
    assert (first, second) == kept_first(*reversed(pair))
    whole = merged("mem_3", first, second)
    assert {*whole.occurrences} == {"mem_1", "mem_2"}
    assert whole.merged_from == (first.id, second.id)


@pytest.mark.parametrize(("other", "expected"), [(0.35, False), (0.49, False), (0.5, True), (0.9, True)])
def test_no_merger_takes_out_of_recall_what_is_believed(other: float, expected: bool) -> None:
    one, less = memory("Deploys happen on Tuesdays.", confidence=0.9), memory("On Tuesdays, deploys happen.", "mem_2")
    assert is_duplicate(one, less.changed(confidence=other)) is expected
