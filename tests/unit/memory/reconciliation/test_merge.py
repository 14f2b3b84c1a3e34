from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.reconciliation.merge import Origin, logged, merge, reconcile
from perdure.values.changes import Deletion
from perdure.values.entries import Memory, MemoryType, Source, State

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VERSIONS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 3))


def entry(name: str, version: int) -> Memory:
    fact, explicit = MemoryType.FACT, Source.EXPLICIT
    return Memory(id=name, text=name, memory_type=fact, source=explicit, first_seen=NOW, last_seen=NOW, version=version)


@given(VERSIONS, VERSIONS)
def test_each_is_there_once_with_where_it_is_and_in_its_latest_state(
    remote: dict[str, int], local: dict[str, int]
) -> None:
    found = reconcile(
        {name: entry(name, version) for name, version in remote.items()},
        {name: entry(name, version) for name, version in local.items()},
    )
    assert {name: origin for name, (origin, _) in found.items()} == {
        **dict.fromkeys(remote.keys() - local.keys(), Origin.REMOTE),
        **dict.fromkeys(local.keys() - remote.keys(), Origin.LOCAL),
        **dict.fromkeys(remote.keys() & local.keys(), Origin.MERGED),
    }
    assert all(one.version == max(remote.get(name, 0), local.get(name, 0)) for name, (_, one) in found.items())


GRACE = timedelta(days=30)


def deletion(name: str, *, days: int = 1, **fields: Any) -> Deletion:
    return Deletion(id=name, at=NOW + timedelta(days=days), reason="expired", sweep="sweep", **fields)


def test_what_one_of_the_two_lacks_or_has_earlier_is_written_to_it() -> None:
    remote = {"r": entry("r", 1), "both": entry("both", 2), "same": entry("same", 1)}
    local = {"l": entry("l", 1), "both": entry("both", 1), "same": entry("same", 1)}
    found = merge(remote, local, {}, GRACE)
    assert {one.id for one in found.write} == {"l"}
    assert {(one.id, one.version) for one in found.journal} == {("r", 1), ("both", 2)}
    assert found.origins == {Origin.REMOTE: 1, Origin.LOCAL: 1, Origin.MERGED: 2}
    assert found.purge == ()


def test_what_was_forgotten_stays_so_in_both_and_is_kept_for_its_grace() -> None:
    known = {"a": entry("a", 3)}
    found = merge(known, known, {"a": deletion("a")}, GRACE)
    [tombstone] = found.write
    assert found.journal == (tombstone,)
    assert (tombstone.state, tombstone.forget_reason, tombstone.version) == (State.FORGOTTEN, "expired", 4)
    assert tombstone.purge_after == NOW + timedelta(days=31)
    assert tombstone.operations[-1] == "forget:sweep"
    again = merge({"a": tombstone}, {"a": tombstone}, {"a": deletion("a")}, GRACE)
    assert (again.write, again.journal) == ((), ())


def test_what_was_last_seen_at_the_moment_of_its_deletion_is_forgotten() -> None:
    known = {"a": entry("a", 3)}
    [tombstone] = merge(known, known, {"a": deletion("a", days=0)}, GRACE).write
    assert tombstone.state is State.FORGOTTEN


@pytest.mark.parametrize(
    "line", [deletion("a", restored_at=NOW + timedelta(days=2)), deletion("a", days=-1)], ids=["undone", "seen since"]
)
def test_what_was_undone_or_observed_since_is_not_forgotten(line: Deletion) -> None:
    known = {"a": entry("a", 3)}
    found = merge(known, known, {"a": line}, GRACE)
    assert (found.write, found.journal, found.purge) == ((), (), ())


def test_what_was_purged_and_is_back_is_purged_again_and_what_came_after_stays() -> None:
    line = deletion("a", purged=True)
    found = merge({"a": entry("a", 5)}, {"a": entry("a", 4)}, {"a": line}, GRACE)
    assert (found.write, found.journal, found.purge) == ((), (), ("a",))
    anew = entry("a", 1).changed(last_seen=NOW + timedelta(days=2))
    found = merge({"a": entry("a", 5)}, {"a": anew}, {"a": line}, GRACE)
    assert (found.write, found.journal, found.purge) == ((anew,), (), ())


def test_the_log_has_the_latest_of_both_copies_and_tombstones_that_neither_knows() -> None:
    tombstone = entry("c", 2).forgotten("decayed", NOW + GRACE).changed(occurrences=("o",))
    older, newer = deletion("a"), deletion("a", restored_at=NOW + timedelta(days=3))
    entries = {"a": entry("a", 1), "b": entry("b", 1), "c": tombstone}
    found = logged(entries, {"a": older}, {"a": newer, "d": deletion("d")}, at=NOW)
    assert (found["a"], found["d"], set(found)) == (newer, deletion("d"), {"a", "c", "d"})
    assert found["c"] == Deletion(id="c", at=NOW, reason="decayed", sweep="reconcile", occurrences=("o",))
    known = {"c": deletion("c")}
    assert logged({"c": tombstone}, known, {}, at=NOW) == known


@pytest.mark.parametrize("on_request", [True, False])
def test_whether_somebody_asked_for_it_outlasts_the_loss_of_the_tombstone_and_of_the_log(*, on_request: bool) -> None:
    line = deletion("a", on_request=on_request)
    [tombstone] = merge({"a": entry("a", 5)}, {"a": entry("a", 5)}, {"a": line}, GRACE).write
    assert tombstone.on_request is on_request
    assert logged({"a": tombstone}, {}, {}, at=NOW)["a"].on_request is on_request
