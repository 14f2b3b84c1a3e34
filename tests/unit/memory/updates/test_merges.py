"""Two memories that become one: nothing that is believed is lost, or they are not merged."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.errors import InvalidInput
from perdure.memory.extraction.statements import stated_by
from perdure.memory.retention import RetentionRules
from perdure.memory.updates.merges import ancestor, merged, merged_id, require_mergeable, says_more, taken_apart
from perdure.values.entries import Memory, MemoryType, Purpose, Relation, Source, State
from perdure.values.suspensions import Suspension
from tests.support.memories import NOW, memory

names = st.lists(st.sampled_from(["k8s", "kube", "pod", "node"]), max_size=4, unique=True).map(tuple)
observations = st.lists(st.sampled_from("abcdef"), max_size=6, unique=True).map(tuple)
memories = st.builds(
    memory,
    st.sampled_from(["mem_1", "mem_2"]),
    names=names,
    tags=names,
    scopes=names,
    occurrences=observations,
    trials=observations,
    confidence=st.floats(0, 1),
    pinned=st.booleans(),
    memory_type=st.sampled_from([MemoryType.FACT, MemoryType.CONSTRAINT]),
    last_seen=st.integers(0, 9).map(lambda days: NOW + timedelta(days)),
)


@given(memories, memories)
def test_merging_loses_nothing(one: Memory, other: Memory) -> None:
    whole = merged("mem_whole", one, other)
    assert whole.text == one.text
    for field in ("names", "tags", "occurrences", "trials"):
        assert set(getattr(whole, field)) == {*getattr(one, field), *getattr(other, field)}
    assert whole.merged_from == (one.id, other.id)
    assert (whole.source, whole.state) == (Source.MERGED, State.CURRENT)
    assert whole.confidence == pytest.approx((one.confidence + other.confidence) / 2, abs=1e-6)
    assert whole.pinned == (one.pinned or other.pinned)
    assert (whole.memory_type is MemoryType.CONSTRAINT) == (
        MemoryType.CONSTRAINT in (one.memory_type, other.memory_type)
    )
    # What counted somewhere still counts there.
    for scope in {*one.scopes, *other.scopes, "elsewhere"}:
        counted = any(not each.scopes or scope in each.scopes for each in (one, other))
        assert not counted or not whole.scopes or scope in whole.scopes


def test_what_is_made_of_others_is_kept_in_a_whole_that_says_the_same() -> None:
    one, other = memory("mem_1"), memory("mem_2")
    first = merged("mem_first", one, other)
    whole = merged("mem_whole", first, memory("mem_3"))
    assert ancestor(first, whole, NOW).kept_at == NOW, "it alone leads to its parts"
    assert ancestor(one, first, NOW).kept_at is None, "the control"


def test_merging_refuses_what_would_not_fit() -> None:
    one, other = (memory(f"mem_{letter}", tags=tuple(f"{letter}{n}" for n in range(10))) for letter in "ab")
    assert len(merged("mem_whole", one, other).tags) == 20
    with pytest.raises(InvalidInput, match="tags: both together have 21"):
        merged("mem_whole", one, other.changed(tags=(*other.tags, "more")))


def test_each_merger_has_an_id_of_its_own() -> None:
    assert len({merged_id(operation, "a", "b") for operation in ("1", "2")}) == 2


def test_what_else_is_known_of_two_is_known_of_the_whole() -> None:
    day = timedelta(days=1)
    one = memory(importance=0.2, access_count=2, last_accessed=NOW, valid_from=NOW, valid_until=NOW + day, kept_at=NOW)
    other = memory(
        "mem_2",
        importance=0.7,
        access_count=3,
        last_accessed=NOW + day,
        valid_from=NOW - day,
        valid_until=NOW + 2 * day,
        first_seen=NOW - day,
        trials=("x",),
        successes=("x",),
        metadata_json={"a": 1},
    )
    whole = merged("mem_whole", one.changed(metadata_json={"a": 2, "b": 3}), other)
    assert (whole.importance, whole.access_count, whole.last_accessed) == (0.7, 5, NOW + day)
    assert (whole.first_seen, whole.valid_from, whole.valid_until) == (NOW - day, NOW - day, NOW + 2 * day)
    assert (whole.trials, whole.successes, whole.kept_at) == (("x",), ("x",), NOW)
    assert (whole.supersedes, whole.superseded_by, whole.version, whole.operations) == (one.id, "", 1, ())
    assert whole.metadata_json == {"a": 2, "b": 3, other.id: {"a": 1}}, "of what both say, the first says it"
    assert merged("mem_whole", one, other).metadata_json == {"a": 1}
    for open_ended in (one.changed(valid_from=None, valid_until=None), one):
        both = merged("mem_whole", open_ended, other.changed(valid_from=None, valid_until=None))
        assert (both.valid_from, both.valid_until) == (None, None), "what holds for ever still does"


def test_what_two_memories_become_is_new_and_keeps_what_both_are_tied_to() -> None:
    one = memory(
        scopes=("work",),
        relations=(Relation(kind="uses", to="pods"),),
        version=4,
        suspended=(Suspension(by="mem_9", start=NOW, until=NOW + timedelta(days=1)),),
    )
    other = memory("mem_2", scopes=("home",), relations=(Relation(kind="uses", to="nodes"),), version=9)
    whole = merged("mem_whole", one, other)
    assert (whole.id, whole.version, whole.suspended, whole.forget_after) == ("mem_whole", 1, one.suspended, None)
    assert (set(whole.scopes), [one.to for one in whole.relations]) == ({"work", "home"}, ["pods", "nodes"])
    assert merged("mem_whole", one.changed(occurrences=()), other.changed(occurrences=())).seen == 1
    due = [each.changed(forget_after=NOW, forget_reason="expired") for each in (one, other)]
    assert (merged("mem_whole", *due).forget_after, merged("mem_whole", *due).forget_reason) == (None, "")


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (None, None, None),
        (None, [1], [1]),
        ({"a": 1}, None, {"a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({"a": None}, {"a": 0}, {"a": None, "mem_2": {"a": 0}}),
        ({"a": {"x": 1}}, {"a": {"y": 1}}, {"a": {"x": 1}, "mem_2": {"a": {"y": 1}}}),
        ("x", {"a": 1}, {"mem_1": "x", "mem_2": {"a": 1}}),
        ([1], [1], [1]),
    ],
)
def test_no_metadata_of_either_is_lost(first: JsonValue, second: JsonValue, both: JsonValue) -> None:
    one, other = memory(metadata_json=first), memory("mem_2", metadata_json=second)
    assert merged("mem_whole", one, other).metadata_json == both


def test_metadata_that_do_not_fit_together_are_refused() -> None:
    one, other = memory(metadata_json={"a": "x" * 3_000}), memory("mem_2", metadata_json={"b": "x" * 980})
    assert merged("mem_whole", one, other).metadata_json
    told = r"metadata_json: of both together has 5,\d\d\d bytes \(at most 4,000\) \(remember one of the two again"
    with pytest.raises(InvalidInput, match=told):
        merged("mem_whole", one, other.changed(metadata_json={"b": "x" * 2_000}))


def saying(identifier: str, text: str, **fields: Any) -> Memory:
    return memory(identifier, text=text, assertion=stated_by(text, NOW).assertion, **fields)


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ({}, {"purpose": Purpose.EXTRACTED}, "other: one was given, and the other extracted"),
        ({"purpose": Purpose.EXTRACTED}, {}, "other: one was given, and the other extracted"),
        ({"superseded_by": "mem_3", "valid_until": NOW + DAY}, {}, "id: it is to be replaced by mem_3"),
        ({}, {"superseded_by": "mem_3", "valid_until": NOW + DAY}, "other: it is to be replaced by mem_3"),
        ({}, {"text": "The office is in Ghent."}, "other: mem_1 and mem_2 contradict each other"),
        (
            {"text": "The office is in Ghent.", "last_seen": NOW + DAY},
            {},
            "other: mem_1 and mem_2 contradict each other",
        ),
        ({"confidence": 0.75}, {"confidence": 0.5}, r"confidence 0\.625, below the 0\.7 of recall .*helpful"),
    ],
)
def test_what_cannot_become_one_is_not_merged(first: dict[str, Any], second: dict[str, Any], problem: str) -> None:
    rome = {"text": "The office is in Rome."}
    require_mergeable(saying("mem_1", **rome), saying("mem_2", **rome))
    with pytest.raises(InvalidInput, match=problem):
        require_mergeable(saying("mem_1", **(rome | first)), saying("mem_2", **(rome | second)))


def test_what_is_not_recalled_anyway_may_be_merged() -> None:
    low = [memory(f"mem_{number}", confidence=0.5, purpose=Purpose.EXTRACTED) for number in (1, 2)]
    require_mergeable(low[0], low[1])
    require_mergeable(low[0].changed(confidence=0.9), low[1])


@pytest.mark.parametrize(
    ("first", "second", "more"),
    [
        ("The office is in Ghent.", "the office is in Ghent", False),
        ("The office is in Ghent.", "Our office is located in Ghent.", False),
        ("The office is in Ghent.", "The office is in Ghent, near the station.", True),
        ("Cats rule at home.", "At home, the cats are the rulers.", True),
        ("text of mem", "text of mem", False),
    ],
)
def test_an_ancestor_that_says_more_than_the_whole_is_kept(first: str, second: str, *, more: bool) -> None:
    one, other = saying("mem_1", first), saying("mem_2", second)
    assert says_more(other, one) is more
    whole = merged("mem_whole", one, other)
    kept, gone = RetentionRules().date(ancestor(other, whole, NOW)), RetentionRules().date(ancestor(one, whole, NOW))
    assert gone == (NOW + 90 * DAY, "superseded for 90 days")
    assert kept == ((None, "") if more else gone)
    assert taken_apart(ancestor(other, whole, NOW)) == other
    restored = other.changed(kept_at=NOW - DAY)
    assert taken_apart(ancestor(restored, whole, NOW)).kept_at in (None, NOW - DAY)


def test_what_is_suspended_stays_suspended() -> None:
    spans = [Suspension(by=f"mem_by_{day}", start=NOW, until=NOW + day * DAY) for day in (1, 3)]
    one, other = [memory(f"mem_{place}", suspended=(span,)) for place, span in enumerate(spans)]
    assert merged("mem_whole", one, other).suspended == tuple(spans)
    for first, second in ((one, memory()), (memory(), one)):
        assert merged("mem_whole", first, second).suspended == one.suspended
    assert merged("mem_whole", memory(), memory("mem_2")).suspended == ()


def test_an_ancestor_that_a_person_kept_is_kept_again_once_it_is_taken_apart() -> None:
    kept = saying("mem_1", "The office is in Ghent.").changed(kept_at=NOW - DAY, contradicted=True)
    whole = merged("mem_whole", saying("mem_2", "The office is in Ghent, near the station."), kept)
    back = taken_apart(ancestor(kept, whole, NOW).changed(kept_at=NOW - DAY))
    assert (back.kept_at, back.state, back.superseded_by, back.contradicted) == (NOW - DAY, State.CURRENT, "", False)
