"""What the lines mean together, checked against the functions that writing uses."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.memory.recall.local import believed, known
from perdure.memory.recall.query import Query
from perdure.memory.retention import RetentionRules
from perdure.memory.write_policies import POLICIES, WritePolicy
from perdure.memory.writing.observation import WRITING, applied
from perdure.memory.writing.planning import Known, plan
from perdure.memory.writing.provenance import occurrence_of
from perdure.stores.journal.folded_state import HISTORY, counted, fold, history, needed, refused
from perdure.stores.journal.lines import (
    Accepted,
    Changed,
    Consented,
    Enrolled,
    Forgotten,
    Line,
    Named,
    Rewriting,
    Settled,
    accepted,
    encode,
    of_kind,
)
from perdure.values.changes import Actor, ActorKind, Deletion, Refusal
from perdure.values.consents import Consent
from perdure.values.entries import Entry, Memory, Purpose, State
from perdure.values.items import MemoryItem, item_id
from perdure.values.jobs import Batch
from perdure.values.memberships import Membership

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANT = "t_1"
BY = Actor(kind=ActorKind.AGENT, id="task")
POLICY = WritePolicy()


def recalled(lines: list[Line], at: datetime = NOW) -> dict[str, Entry]:
    query = Query(tenant=TENANT, session="", now=at + timedelta(days=1))
    found = known(query, lines, POLICIES).entries
    return {identifier: entry for identifier, entry in found.items() if query.filters.objection(entry) is None}


def moment(step: int) -> datetime:
    return NOW + timedelta(minutes=step)


class Store:
    """What the writer and the sweep do, with a dictionary in the place of the stores, and the journal they leave."""

    def __init__(self, spacing: timedelta = timedelta(minutes=1)) -> None:
        self.entries: dict[str, Entry] = {}
        self.deletions: dict[str, Deletion] = {}
        self.lines: list[Line] = []
        self.refused: set[tuple[str, int]] = set()
        self._spacing = spacing
        self._steps = 0

    def now(self) -> datetime:
        self._steps += 1
        return NOW + self._steps * self._spacing

    def submit(self, job: str, *items: MemoryItem) -> Batch:
        at = self.now()
        batch = Batch(tenant=TENANT, key=job, items=items, accepted_at=at)
        self.lines += accepted(job, batch, at)
        return batch

    def run(self, job: str, batch: Batch, *, crash: str = "") -> None:
        at = self.now()
        known = Known(entries=self.entries, deletions=self.deletions)
        decided = plan(batch, known, policy=POLICY, at=at)
        pending = {
            identifier: entry
            for identifier, (entry, _) in applied(batch, decided, self.entries).items()
            if entry != self.entries.get(identifier)
        }
        refused = [item for item in decided.items if item.decision not in WRITING]
        self.write(job, pending, [Refusal(index=item.index, reason=item.reason) for item in refused], crash=crash)

    def forget(self, run: str, identifier: str, *, crash: str = "") -> None:
        entry = self.entries.get(identifier)
        if entry is None or entry.state is State.FORGOTTEN:
            return
        deletion = Deletion(id=identifier, at=self.now(), reason="why", sweep=run, occurrences=entry.occurrences)
        self.lines.append(Forgotten(deletion=deletion))
        self.deletions[identifier] = deletion
        self.write(run, {identifier: entry.forgotten("why")}, crash=crash)

    def restore(self, run: str, identifier: str) -> None:
        entry = self.entries.get(identifier)
        if entry is None or entry.state is not State.FORGOTTEN or identifier not in self.deletions:
            return
        self.write(run, {identifier: RetentionRules().restored(entry, self.now(), on_request=False)})
        self.deletions[identifier] = self.deletions[identifier].changed(restored_at=self.now())
        self.lines.append(Forgotten(deletion=self.deletions[identifier]))

    def write(
        self, operation: str, entries: dict[str, Entry], refused: list[Refusal] | None = None, *, crash: str = ""
    ) -> None:
        at = self.now()
        written: dict[str, Entry] = {}
        for identifier, entry in entries.items():
            before = self.entries.get(identifier)
            written[identifier] = entry.stamped((before.version if before else 0) + 1, operation)
        self.lines += [Changed(entry=entry, operation=operation, by=BY, why="", at=at) for entry in written.values()]
        if crash == "journaled":
            return
        self.entries |= written
        if crash == "written":
            return
        refused = refused or []
        versions = {identifier: entry.version for identifier, entry in written.items()}
        self.lines.append(Settled(operation=operation, versions=versions, refused=tuple(refused), at=at))
        self.refused |= {(operation, item.index) for item in refused}
        # As the journal does it: what was refused is no longer there.
        self.lines = [
            line for line in self.lines if not (line.kind == "accepted" and (line.job, line.index) in self.refused)
        ]


NAMES = "abcd"


def said(name: str, occurrence: int, *, day: int = 0, confidence: float = 0.9, supersedes: str = "") -> MemoryItem:
    return MemoryItem(
        content=name,
        occurrence=f"o{occurrence}",
        occurred_at=NOW + timedelta(days=day - 2),
        confidence=confidence,
        supersedes=item_id(TENANT, said(supersedes, 0)) if supersedes else "",
    )


ITEMS = st.builds(
    said,
    st.sampled_from(NAMES),
    st.integers(0, 3),
    day=st.integers(0, 3),
    confidence=st.sampled_from([0.5, 0.9]),
    supersedes=st.sampled_from(["", "", "a", "b"]),
)
JOBS = st.tuples(st.just("job"), st.lists(ITEMS, min_size=1, max_size=3))
SWEEPS = st.tuples(st.sampled_from(["forget", "restore"]), st.sampled_from(NAMES))
STEPS = st.lists(st.one_of(JOBS, JOBS, SWEEPS), max_size=8)


def run_all(steps: list[tuple[str, object]], store: Store) -> Iterator[int]:
    """Take the steps one after the other; yields after each."""
    for number, (kind, what) in enumerate(steps):
        name = f"{kind} {number}"
        if kind == "job" and isinstance(what, list):
            store.run(name, store.submit(name, *cast("list[MemoryItem]", what)))
        elif kind == "forget":
            store.forget(name, item_id(TENANT, said(str(what), 0)))
        else:
            store.restore(name, item_id(TENANT, said(str(what), 0)))
        yield number


@given(STEPS)
def test_the_lines_give_what_the_store_has(steps: list[tuple[str, object]]) -> None:
    store = Store()
    for _ in run_all(steps, store):
        folded = fold(store.lines)
        assert folded.entries == store.entries
        assert folded.deletions == store.deletions
        assert folded.pending == ()


@given(STEPS)
def test_the_lines_of_the_deletion_log_give_it_without_the_others(steps: list[tuple[str, object]]) -> None:
    store = Store()
    list(run_all(steps, store))
    found = of_kind(Forgotten)[0].encode()
    assert fold([line for line in store.lines if found in encode([line])]).deletions == store.deletions


@given(STEPS, st.lists(ITEMS, min_size=1, max_size=3))
def test_what_is_accepted_is_given_as_its_job_will_decide(
    steps: list[tuple[str, object]], items: list[MemoryItem]
) -> None:
    store = Store()
    list(run_all(steps, store))
    batch = store.submit("last", *items)
    given_before = believed(TENANT, fold(store.lines), policies=POLICIES, at=NOW).entries
    store.run("last", batch)
    wanted = {name: _life(entry) for name, entry in store.entries.items()}
    assert {name: _life(entry) for name, entry in given_before.items()} == wanted


def _life(entry: Entry) -> dict[str, object]:
    return entry.model_dump(exclude={"version", "operations"})


@given(STEPS, st.lists(ITEMS, min_size=1, max_size=3), st.sampled_from(["journaled", "written"]))
def test_a_job_that_died_is_given_as_it_will_end(
    steps: list[tuple[str, object]], items: list[MemoryItem], crash: str
) -> None:
    store = Store()
    list(run_all(steps, store))
    batch = store.submit("last", *items)
    store.run("last", batch, crash=crash)
    found = believed(TENANT, fold(store.lines), policies=POLICIES, at=NOW).entries
    if crash == "journaled":
        store.run("last", batch)
    assert {name: _life(entry) for name, entry in found.items()} == {
        name: _life(entry) for name, entry in store.entries.items()
    }


@given(STEPS, st.sampled_from(NAMES), st.sampled_from(["", "journaled", "written"]))
def test_what_was_forgotten_is_not_given_from_its_first_line_on(
    steps: list[tuple[str, object]], name: str, crash: str
) -> None:
    store = Store(spacing=timedelta(days=1))
    list(run_all(steps, store))
    identifier = item_id(TENANT, said(name, 0))
    was_current = identifier in store.entries and store.entries[identifier].state is not State.FORGOTTEN
    store.forget("last", identifier, crash=crash)
    if was_current:
        assert identifier not in recalled(store.lines, store.now())


@given(STEPS)
def test_what_was_refused_is_never_given(steps: list[tuple[str, object]]) -> None:
    store = Store()
    list(run_all(steps, store))
    assert recalled(store.lines).keys() == {
        name for name, entry in store.entries.items() if entry.state is State.CURRENT
    }


@given(STEPS, st.integers(0, 2))
def test_compaction_changes_neither_what_is_given_nor_what_is_recent(
    steps: list[tuple[str, object]], pending: int
) -> None:
    store = Store(spacing=timedelta(days=20))
    list(run_all(steps, store))
    for number in range(pending):
        batch = store.submit(f"pending {number}", said("d", 10 + number))
        store.run(f"pending {number}", batch, crash="journaled")
    at = store.now()
    kept = [line for line, keep in zip(store.lines, needed(store.lines, at), strict=True) if keep]
    assert fold(kept) == fold(store.lines)
    for name in NAMES:
        identifier = item_id(TENANT, said(name, 0))
        recent = [line for line in history(store.lines, identifier) if line.at > at - HISTORY]
        assert [line for line in history(kept, identifier) if line.at > at - HISTORY] == recent
    again = [line for line, keep in zip(kept, needed(kept, at), strict=True) if keep]
    assert again == kept, "twice is once"


def test_compaction_drops_what_is_settled_and_keeps_what_it_does_not_know() -> None:
    store = Store()
    for number in range(5):
        store.run(f"job {number}", store.submit(f"job {number}", said("a", number)))
    much_later = NOW + 2 * HISTORY
    kept = needed([*store.lines, None], much_later)
    # The last state of the entry, what proves that it was written, and the unknown line.
    assert [line and line.kind for line, keep in zip([*store.lines, None], kept, strict=True) if keep] == [
        "changed",
        "settled",
        None,
    ]


def rewriting(at: datetime) -> Line:
    return Rewriting(entry=Memory(id="mem_1", text="x", first_seen=NOW, last_seen=NOW), at=at)


def consented(at: datetime) -> Line:
    return Consented(consent=Consent(purpose=Purpose.EXTRACTED, granted=True, at=at, by=BY))


def enrolled(at: datetime) -> Line:
    return Enrolled(membership=Membership(member="t_2", belongs=True, at=at, by=BY))


def forgotten(at: datetime) -> Line:
    return Forgotten(deletion=Deletion(id="mem_1", at=at, reason="expired", sweep="r"))


def named(_: datetime) -> Line:
    return Named(owner="t_3")


def settled(at: datetime) -> Line:
    return Settled(operation="job", at=at)


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        (rewriting, [False, False, True, True]),
        (settled, [False, False, True, True]),
        (consented, [False, False, True, True]),
        (enrolled, [False, False, True, True]),
        (forgotten, [False, False, True, True]),
        (named, [False, False, False, True]),
    ],
)
def test_what_has_no_longer_a_say_is_kept_for_ninety_days(made: Callable[[datetime], Line], kept: list[bool]) -> None:
    now = NOW + HISTORY
    lines = [made(NOW + timedelta(seconds=second)) for second in (-1, 0, 1, 2)]
    assert needed(lines, now) == kept
    assert needed(lines, now + HISTORY)[:3] == [False, False, False]
    # What is in force stays for ever; what only tells what was done does not.
    assert needed(lines, now + HISTORY)[3] is (made not in (rewriting, settled))


def test_a_tombstone_keeps_until_when_it_can_be_undone() -> None:
    until = NOW + timedelta(days=30)
    entry = Memory(id="mem_1", text="x", first_seen=NOW, last_seen=NOW, version=2).forgotten("expired", until)
    lines: list[Line] = [
        Forgotten(deletion=Deletion(id="mem_1", at=NOW, reason="expired", sweep="r")),
        Changed(entry=entry, operation="forget:r", by=BY, why="expired", at=NOW),
        Settled(operation="forget:r", versions={"mem_1": 2}, at=NOW),
    ]
    assert fold(lines).entries == {"mem_1": entry}


def test_a_change_counts_once_it_is_settled_or_carried() -> None:
    store = Store()
    store.run("one", store.submit("one", said("a", 1)), crash="written")
    assert counted(store.lines) == []
    store.run("two", store.submit("two", said("a", 2)), crash="written")
    assert [line.operation for line in counted(store.lines)] == ["one"]
    store.run("three", store.submit("three", said("a", 3)))
    assert [line.operation for line in counted(store.lines)] == ["one", "two", "three"]


def test_a_line_that_another_writer_overtook_does_not_count() -> None:
    store = Store()
    late = store.submit("late", said("a", 1))
    store.run("late", late, crash="journaled")
    store.run("early", store.submit("early", said("a", 2)))
    store.run("late", late)
    [identifier] = store.entries
    assert [(line.operation, line.entry.version) for line in history(store.lines, identifier)] == [
        ("early", 1),
        ("late", 2),
    ]
    assert occurrence_of(TENANT, said("a", 1)) in fold(store.lines).entries[identifier].occurrences


def test_a_settled_line_condemns_what_its_operation_refused_and_did_not_write() -> None:
    item = MemoryItem(content="The lead is Kim.", occurrence="o1", occurred_at=NOW, confidence=0.9)

    def line(job: str, index: int) -> Accepted:
        return Accepted(job=job, index=index, id="mem_1", item=item, at=NOW)

    def change(operation: str, identifier: str) -> Changed:
        entry = Memory(id=identifier, text="x", first_seen=NOW, last_seen=NOW, version=1, operations=(operation,))
        return Changed(entry=entry, operation=operation, by=BY, why="", at=NOW)

    refusal = Refusal(index=1, reason="too vague")
    settled = Settled(operation="mine", versions={"mem_1": 1}, refused=(refusal,), at=NOW)
    lines = [line("mine", 0), line("mine", 1), line("another's", 1)]
    lines += [change("mine", "mem_1"), change("mine", "mem_2"), change("another's", "mem_3")]
    assert refused(lines, settled) == [False, True, False, False, True, False]
