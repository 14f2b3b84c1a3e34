"""What the journal's lines tell of versions, and of what was refused."""

from datetime import UTC, datetime, timedelta

import pytest

from perdure.errors import InvalidInput
from perdure.memory.updates.versions import outcome, rejections, settled_jobs, version_of, versions
from perdure.stores.journal.lines import Changed, Forgotten, Refusal, Settled
from perdure.values.changes import Actor, ActorKind, Deletion
from perdure.values.entries import Memory

NOW = datetime(2026, 5, 1, tzinfo=UTC)
BY = Actor(kind=ActorKind.PERSON, id="ada")


def changed(version: int, text: str) -> Changed:
    entry = Memory(id="mem_1", text=text, first_seen=NOW, last_seen=NOW, version=version, operations=(f"o{version}",))
    at = NOW + timedelta(days=version)
    return Changed(entry=entry, operation=f"o{version}", by=BY, why=f"why {version}", note=f"note {version}", at=at)


def test_versions_tell_who_why_when_and_what() -> None:
    settled = [Settled(operation=f"o{version}", versions={"mem_1": version}, at=NOW) for version in (1, 2)]
    lines = [changed(1, "one"), settled[0], changed(2, "two"), settled[1]]
    assert [(one.version, one.at, one.by, one.why, one.note, one.entry.text) for one in versions(lines, "mem_1")] == [
        (1, NOW + timedelta(days=1), BY, "why 1", "note 1", "one"),
        (2, NOW + timedelta(days=2), BY, "why 2", "note 2", "two"),
    ]
    assert versions(lines, "mem_2") == []


def test_a_version_that_is_gone_is_refused_with_those_that_are_kept() -> None:
    lines = [changed(2, "two"), changed(3, "three")]
    assert version_of(lines, 3).text == "three"
    with pytest.raises(InvalidInput, match=r"version: 1 is not kept \(kept: 2, 3\)"):
        version_of(lines, 1)
    with pytest.raises(InvalidInput, match=r"kept: none"):
        version_of([], 1)


def test_rejections_are_told_once_newest_first_without_what_is_on_hold() -> None:
    refused = (Refusal(index=0, reason="too vague"), Refusal(index=1, reason="waits", held=True))
    first = Settled(operation="job 1", refused=refused, at=NOW)
    later = Settled(operation="job 2", refused=(Refusal(index=4, reason="expired"),), at=NOW + timedelta(hours=1))
    found = rejections([first, changed(1, "one"), later, first])
    assert [(one.job, one.index, one.at, one.reason) for one in found] == [
        ("job 2", 4, later.at, "expired"),
        ("job 1", 0, NOW, "too vague"),
    ]


def test_an_operation_has_come_to_what_it_settled_since_the_memory_was_last_purged() -> None:
    def purge(identifier: str, *, purged: bool = True) -> Forgotten:
        return Forgotten(deletion=Deletion(id=identifier, at=NOW, reason="", sweep="r", purged=purged))

    done = [changed(1, "one"), Settled(operation="o1", versions={"mem_1": 1}, at=NOW)]
    more = [changed(2, "two"), Settled(operation="o2", versions={"mem_1": 2, "mem_2": 5}, at=NOW)]
    entry = done[0].entry if isinstance(done[0], Changed) else None
    assert outcome([*done, *more], "o1", "mem_1") == ({"mem_1": 1}, [entry])
    assert outcome([*done, *more], "o2", "mem_1") == ({"mem_1": 2, "mem_2": 5}, [changed(2, "two").entry])
    assert outcome(done[:1], "o1", "mem_1") is None, "it was not settled"
    assert outcome([*done, Settled(operation="o3", at=NOW)], "o3", "mem_1") is None, "it changed nothing"
    assert outcome([*done, purge("mem_1")], "o1", "mem_1") is None
    assert outcome([purge("mem_1"), *done, purge("mem_1"), *more], "o1", "mem_1") is None
    assert outcome([purge("mem_1"), *more, purge("mem_2"), purge("mem_1", purged=False)], "o2", "mem_1") is not None


def test_a_job_that_is_done_is_told_from_all_its_lines() -> None:
    first, later = Refusal(index=3, reason="too vague"), Refusal(index=1, reason="waits", held=True)
    lines = [
        Settled(operation="job 1", versions={"mem_1": 1}, refused=(first,), at=NOW),
        changed(1, "one"),
        Settled(operation="job 2", versions={"mem_9": 1}, at=NOW),
        Settled(operation="job 1", versions={"mem_1": 1, "mem_2": 1}, refused=(later, first), at=NOW),
    ]
    [job] = settled_jobs(lines, ["job 1", "job 3"])
    assert (job.job, job.ids, job.refused) == ("job 1", ("mem_1", "mem_2"), (later, first))
