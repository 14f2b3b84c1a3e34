"""Recall from the journal's lines, for when the store does not answer. Pure: no file, no store, no clock.

The lines contain what is written. Items that are only accepted are decided by the rules that their job will apply, so
nothing is recalled that would be refused.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from perdure.memory.recall.entry_index import EntryIndex
from perdure.memory.recall.query import Query
from perdure.memory.write_policies import WritePolicy, policy_of
from perdure.memory.writing.observation import applied
from perdure.memory.writing.planning import Known, plan
from perdure.model import Instant
from perdure.stores.journal.folded_state import Folded, fold
from perdure.stores.journal.lines import Accepted, Line, batch_of
from perdure.values.assertions import ABOUT_AT_MOST
from perdure.values.changes import Deletion, by_wording
from perdure.values.entries import Entry, Memory, Record, State, headline_of
from perdure.values.hits import Hit
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch
from perdure.values.labels import halves as halves_of
from perdure.values.labels import labels_of
from perdure.words import ENGLISH, stems

_LISTING, _DECIDING, _COMPARING = 1.0, 40.0, 5.0
"""What it takes to list an entry, to decide on an item that waits, and to compare that with a memory about the same, in
readings of a line: 0.02 ms, 1 ms and 0.12 ms, of 0.025 ms (measured)."""

_LEAST = 100 * _DECIDING
"""What is spent on deciding whatever it may cost, in readings of a line: a hundred items about which nothing is known,
in 0.1 s."""


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
    effort: float | None = None,
    language: str = ENGLISH,
) -> Local:
    """Return what the journal knows.

    Args:
        query: The question.
        lines: The tenant's lines.
        policies: What may be believed, by name.
        log: The deletion log, where Redis has answered: another machine's journal may lack what was forgotten there.
            None: it has not.
        is_cut: Whether there are older lines, which were not read.
        effort: What deciding on the items that wait for their jobs may cost, in readings of a line: the newest are
            decided on, as far as it reaches, or ``_LEAST`` does. None: all are.
        language: The language of the words.
    """
    folded = fold(lines, log or ())
    if is_cut and log is None:
        # The line by which an item was forgotten may be among those that were not read.
        return Local(folded.entries, is_all=False)
    found = believed(query.tenant, folded, policies=policies, at=query.now, effort=effort, language=language)
    return found._replace(is_all=found.is_all and not is_cut)


def believed(
    tenant: str,
    folded: Folded,
    *,
    policies: Mapping[str, WritePolicy],
    at: Instant,
    effort: float | None = None,
    language: str = ENGLISH,
) -> Local:
    """Return every entry as it will be when the jobs that are not done have ended, whatever its state."""
    waiting = len(folded.pending)
    most = waiting if effort is None else min(waiting, int(max(_LEAST, effort) / _DECIDING))
    pending = folded.pending[waiting - most :]
    index = EntryIndex(folded.entries, _batches(tenant, pending), language)
    most = most if effort is None else _affordable(pending, index, effort)
    deletions = by_wording(folded.deletions)
    for batch in _batches(tenant, folded.pending[waiting - most :]):
        needed = index.needed(batch)
        known = Known.model_construct(entries=needed, deletions=deletions)
        decided = plan(batch, known, policy=policy_of(policies, batch.policy), at=at)
        index.add(entry for entry, _ in applied(batch, decided, needed).values())
    return Local(index.entries, is_all=most == waiting)


def _affordable(pending: Sequence[Accepted], index: EntryIndex, effort: float) -> int:
    """Return how many of the items that wait can be decided on, the newest, at a cost in readings of a line."""
    alike: Counter[str] = Counter()
    costs: list[float] = []
    for line in pending:
        assertion = line.item.assertion if isinstance(line.item, MemoryItem) else None
        terms = assertion.about if assertion else ()
        compared = sum(index.size_of(term) + alike[term] for term in terms)
        costs.append(_DECIDING + _COMPARING * min(compared, ABOUT_AT_MOST))
        alike.update(terms)
    left = max(_LEAST, effort - _LISTING * len(index.entries))
    return sum(spent <= left for spent in accumulate(reversed(costs)))


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


def _batches(tenant: str, pending: Sequence[Accepted]) -> list[Batch]:
    batches: dict[str, list[Accepted]] = {}
    for line in pending:
        batches.setdefault(line.job, []).append(line)
    return [batch_of(tenant, lines) for lines in batches.values()]
