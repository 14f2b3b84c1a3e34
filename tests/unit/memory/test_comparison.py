"""Changes compared with what is stored: plain calls."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.errors import VersionConflict
from perdure.memory.comparison import compared, in_rounds, observed_anew, purgeable, reasons
from perdure.memory.writing.provenance import occurrence_of
from perdure.stores.journal.lines import Accepted
from perdure.values.changes import Actor, ActorKind, Change, Deletion
from perdure.values.entries import Entry, Memory, MemoryType, Source, State
from perdure.values.items import MemoryItem

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def memory(version: int, *occurrences: str, operations: tuple[str, ...] = (), at: datetime = NOW) -> Memory:
    return Memory(
        id="mem_1",
        text="The lead is Kim.",
        memory_type=MemoryType.FACT,
        source=Source.EXPLICIT,
        occurrences=occurrences or ("o1",),
        first_seen=at,
        last_seen=at,
        version=version,
        operations=operations,
    )


def change(entry: Memory, expected: int) -> Change:
    return Change(
        id=entry.id, expected=expected, entry=entry, by=Actor(kind=ActorKind.SYSTEM), why="", operation="mine"
    )


def deletion(*occurrences: str, restored_at: datetime | None = None) -> Deletion:
    return Deletion(id="mem_1", at=NOW, reason="expired", sweep="r", occurrences=occurrences, restored_at=restored_at)


def test_only_what_the_operation_has_not_written_and_what_differs_is_pending() -> None:
    one = change(memory(1, "o1", "o2"), 1)
    assert compared([one], {"mem_1": memory(1)}, {}).pending == [one]
    assert compared([one], {"mem_1": memory(2, operations=("mine",))}, {}).pending == []
    assert compared([change(memory(1), 1)], {"mem_1": memory(1)}, {}).pending == []


@pytest.mark.parametrize(("stored", "expected"), [(memory(2), 1), (memory(1), 0), (None, 1)])
def test_another_version_than_the_expected_one_is_a_conflict(stored: Memory | None, expected: int) -> None:
    with pytest.raises(VersionConflict):
        compared([change(memory(1, "o2"), expected)], {"mem_1": stored} if stored else {}, {})


def test_what_was_forgotten_since_it_was_planned_is_a_conflict_unless_it_was_undone_or_is_newer() -> None:
    new = change(memory(1, "o2"), 0)
    with pytest.raises(VersionConflict, match="forgotten after it was planned"):
        compared([new], {}, {"mem_1": deletion("o1")})
    assert compared([new], {}, {"mem_1": deletion("o1", restored_at=NOW)}).pending == [new]
    later = change(memory(1, "o2", at=NOW + timedelta(seconds=1)), 0)
    assert compared([later], {}, {"mem_1": deletion("o1")}).pending == [later]


def test_a_line_is_unfinished_while_the_entry_that_it_forgets_stands() -> None:
    again = change(memory(1, "o1", "o2"), 1)
    lines = {"mem_1": deletion("o1")}
    assert compared([again], {"mem_1": memory(1)}, lines).unfinished == [lines["mem_1"]]
    assert compared([again], {"mem_1": memory(1, "o9")}, lines).unfinished == [], "observed anew since"
    forgetting = change(memory(1).forgotten("expired", NOW), 1)
    assert compared([forgetting], {"mem_1": memory(1)}, lines).unfinished == [], "the sweep itself"


def test_of_many_changes_each_is_compared_with_its_own_entry() -> None:
    def named(name: str, entry: Memory) -> Memory:
        return entry.changed(id=name)

    made = change(named("made", memory(1)), 1)
    forgetting = change(named("forgotten", memory(1).forgotten("expired", NOW)), 1)
    plain = change(named("plain", memory(1, "o1", "o2")), 1)
    again = change(named("again", memory(1, "o1", "o2")), 1)
    stored = {
        "made": named("made", memory(2, operations=("mine",))),
        **{name: named(name, memory(1)) for name in ("forgotten", "plain", "again")},
    }
    lines = {name: deletion("o1").changed(id=name) for name in ("forgotten", "again")}
    found = compared([forgetting, plain, made, again], stored, lines)
    assert found.stored == stored
    assert found.pending == [forgetting, plain, again]
    assert found.made == [made, forgetting, plain, again]
    assert found.unfinished == [lines["again"]]


def test_what_was_forgotten_stays_so_for_the_very_observation_that_was_forgotten() -> None:
    later = change(memory(1, "o1", at=NOW + timedelta(days=1)), 0)
    with pytest.raises(VersionConflict, match="forgotten after it was planned"):
        compared([later], {}, {"mem_1": deletion("o1")})
    assert compared([later], {}, {"mem_1": deletion("o2")}).pending == [later]


def test_an_item_was_observed_anew_where_its_deletion_does_not_cover_it() -> None:
    def observed(occurrence: str, at: datetime) -> Accepted:
        item = MemoryItem(content="The lead is Kim.", occurrence=occurrence, occurred_at=at, confidence=0.9)
        return Accepted(job="j", index=0, id="mem_1", item=item, at=at)

    later, before = NOW + timedelta(days=1), NOW - timedelta(days=1)
    old = observed("o1", before)
    gone = {"mem_1": deletion(occurrence_of("t", old.item))}
    assert observed_anew("t", observed("o2", later), gone)
    assert not observed_anew("t", old, gone)
    assert not observed_anew("t", observed("o1", later), gone), "the same observation, told again"
    assert not observed_anew("t", observed("o2", later), {}), "it was not forgotten"
    assert observed_anew("another", observed("o1", later), gone), "an occurrence is of its tenant"


def test_who_changed_what_is_told_by_actor_and_reason() -> None:
    one, ada = change(memory(1), 1), Actor(kind=ActorKind.PERSON, id="ada")
    others = [replace(one, id="mem_2", by=ada, why="pin"), replace(one, id="mem_3")]
    assert list(reasons([one, *others]).items()) == [(one.by, {"": ["mem_1", "mem_3"]}), (ada, {"pin": ["mem_2"]})]


def rounds(*changes: tuple[str, bool, str], uncounted: str = "") -> list[str]:
    """Return the ids written in each round, of changes by id, whether their text is new, and what they come after."""
    made = [
        replace(
            change(memory(1), 1),
            id=name,
            entry=memory(1).changed(id=name),
            vector=[0.5] if new else None,
            after=frozenset(after),
        )
        for name, new, after in changes
    ]
    written = [*(one.entry for one in made), *(memory(1).changed(id=name) for name in uncounted)]
    return ["".join(entry.id for entry in part) for part in in_rounds(made, written)]


def test_an_entry_is_written_after_what_overtakes_it_and_otherwise_in_as_few_rounds_as_may_be() -> None:
    assert rounds() == []
    assert rounds(uncounted="ab") == ["ab"]
    assert rounds(("a", True, ""), ("b", True, "")) == ["ab"]
    assert rounds(("a", False, "b"), ("b", True, ""), ("c", False, "x")) == ["b", "ac"]
    assert rounds(("a", True, "b"), ("b", True, "c"), ("c", True, "c")) == ["c", "b", "a"]
    assert rounds(("a", True, "b"), ("b", False, "")) == ["b", "a"]
    assert rounds(("a", False, "b"), ("b", False, "")) == ["b", "a"]
    assert rounds(("a", True, "b"), ("b", True, "a"), ("c", True, "")) == ["c", "ab"]


def test_what_an_operation_has_written_is_written_once_more_where_that_is_corrected() -> None:
    stored = memory(2, "o1", operations=("mine",))
    corrected = replace(change(memory(2, "o2", operations=("mine",)), 2), corrects=True)
    found = compared([corrected], {"mem_1": stored}, {})
    assert (found.pending, found.made) == ([corrected], [corrected])
    assert compared([corrected], {"mem_1": corrected.entry}, {}).pending == []


@pytest.mark.parametrize(
    ("stored", "goes"),
    [
        (None, True),
        ({}, True),
        ({"purge_after": NOW - timedelta(days=1)}, True),
        ({"purge_after": NOW + timedelta(seconds=1)}, False),
        ({"purge_after": None}, False),
        ({"version": 4}, False),
        ({"state": State.CURRENT}, False),
        ({"state": State.SUPERSEDED}, False),
    ],
    ids=["gone", "due", "overdue", "restorable", "never", "changed since", "restored", "replaced"],
)
def test_only_what_is_forgotten_unchanged_and_past_its_time_is_purged(
    stored: dict[str, Any] | None, goes: bool
) -> None:
    entries: dict[str, Entry] = {}
    if stored is not None:
        given: dict[str, Any] = {"state": State.FORGOTTEN, "purge_after": NOW} | stored
        entries["mem_1"] = memory(3).changed(**given)
    assert purgeable({"mem_1": 3}, entries, NOW) == (["mem_1"] if goes else [])
