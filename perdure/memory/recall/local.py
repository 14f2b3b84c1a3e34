"""Recall from the journal's lines, for when the store does not answer. Pure: no file, no store, no clock.

The lines contain what is written. Items that are only accepted are decided by the rules that their job will apply, so
nothing is recalled that would be refused.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from perdure.memory.recall.query import Query
from perdure.memory.write_policies import WritePolicy, policy_of
from perdure.memory.writing.observation import applied
from perdure.memory.writing.planning import Known, plan
from perdure.model import Instant
from perdure.stores.journal.folded_state import Folded, fold
from perdure.stores.journal.lines import Accepted, Line, batch_of
from perdure.values.changes import Deletion, by_wording
from perdure.values.entries import Entry, Memory, Record, State, headline_of
from perdure.values.hits import Hit
from perdure.values.labels import halves as halves_of
from perdure.values.labels import labels_of
from perdure.words import ENGLISH, stems


class Local(NamedTuple):
    """What the journal knows."""

    entries: dict[str, Entry]
    """By id, whatever their state."""
    is_all: bool
    """Whether nothing was left out for want of time."""


def known(
    query: Query,
    lines: Iterable[Line],
    policies: Mapping[str, WritePolicy],
    log: Iterable[Deletion] | None = (),
    *,
    is_cut: bool = False,
    most_pending: int | None = None,
) -> Local:
    """Return what the journal knows.

    Args:
        query: The question.
        lines: The tenant's lines.
        policies: What may be believed, by name.
        log: The deletion log, where Redis has answered: another machine's journal may lack what was forgotten there.
            None: it has not.
        is_cut: Whether there are older lines, which were not read.
        most_pending: How many items that wait for their jobs to decide on at most, the newest; None: all.
    """
    folded = fold(lines, log or ())
    waiting = len(folded.pending)
    most = waiting if most_pending is None else min(waiting, most_pending)
    if is_cut and log is None:
        # The line by which an item was forgotten may be among those that were not read.
        most = 0
    kept = folded._replace(pending=folded.pending[waiting - most :])
    entries = believed(query.tenant, kept, policies=policies, at=query.now)
    return Local(entries, most == waiting and not is_cut)


def believed(tenant: str, folded: Folded, *, policies: Mapping[str, WritePolicy], at: Instant) -> dict[str, Entry]:
    """Return every entry as it will be when the jobs that are not done have ended, whatever its state."""
    entries = dict(folded.entries)
    for lines in _batches(folded.pending):
        batch = batch_of(tenant, lines)
        known = Known.model_construct(entries=entries, deletions=by_wording(folded.deletions))
        decided = plan(batch, known, policy=policy_of(policies, batch.policy), at=at)
        entries |= {identifier: entry for identifier, (entry, _) in applied(batch, decided, entries).items()}
    return entries


def exact(query: Query, entries: Iterable[Entry]) -> list[Record]:
    """Return the records in the query's lane and under its keys, those seen last first."""
    records = [
        entry
        for entry in entries
        if isinstance(entry, Record) and entry.lane == query.lane and (not query.keys or entry.key in query.keys)
    ]
    return sorted(records, key=lambda record: (record.newest, record.id), reverse=True)


def by_words(text: str, entries: Iterable[Entry], language: str = ENGLISH) -> list[Hit]:
    """Return what shares words with a question, with the share of the question's words."""
    wanted = set(stems(text, language))
    hits: list[Hit] = []
    for entry in entries:
        said = stems(headline_of(entry.text), language)
        if shared := wanted & set(said):
            hits.append(Hit(entry, bm25=len(shared) / len(wanted), words=" ".join(said)))
    return hits


def called(
    memories: Iterable[Memory], labels: Collection[str], halves: Collection[str], linked: Collection[str]
) -> list[Memory]:
    """Return the memories, current or superseded, that labels may mean or relations lead to, as the store does."""
    wanted, near, ends = set(labels), set(halves), set(linked)
    return [
        memory
        for memory in memories
        if memory.state in {State.CURRENT, State.SUPERSEDED}
        and (
            not wanted.isdisjoint(labels_of(memory.called))
            or not ends.isdisjoint(labels_of([relation.to for relation in memory.relations]))
            or any(not near.isdisjoint(halves_of(name)) for name in memory.called)
        )
    ]


def _batches(pending: Sequence[Accepted]) -> list[list[Accepted]]:
    batches: dict[str, list[Accepted]] = {}
    for line in pending:
        batches.setdefault(line.job, []).append(line)
    return list(batches.values())
