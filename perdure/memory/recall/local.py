"""Recall from the journal's lines, for when the store does not answer. Pure: no file, no store, no clock.

What is written is told by the lines. What is only accepted is decided by the rules that its job will apply, so
nothing is recalled that would be refused.
"""

from collections.abc import Iterable, Sequence

from perdure.changes import Deletion
from perdure.entries import Entry, Hit, Memory, Record, headline_of, holds
from perdure.items import Item
from perdure.jobs import Batch, UnusableItem
from perdure.memory.policies import WritePolicy
from perdure.memory.recall.query import Query
from perdure.memory.writing.observation import applied
from perdure.memory.writing.planning import Known, plan
from perdure.model import Instant
from perdure.stores.journal.folding import Folded, fold
from perdure.stores.journal.lines import Accepted, Line
from perdure.words import stems


def recallable(query: Query, lines: Iterable[Line], policy: WritePolicy, log: Iterable[Deletion] = ()) -> list[Entry]:
    """Return what the journal knows that recall may return.

    Args:
        query: The question.
        lines: The tenant's lines.
        policy: What may be believed.
        log: The deletion log, where Redis has answered: another machine's journal may lack what was forgotten there.
    """
    folded = fold(lines, log)
    known = believed(query.tenant, folded, policy=policy, at=query.now)
    return [entry for entry in known.values() if holds(entry, query.now)]


def believed(tenant: str, folded: Folded, *, policy: WritePolicy, at: Instant) -> dict[str, Entry]:
    """Return every entry as it will be when the jobs that are not done have ended, whatever its state."""
    entries = dict(folded.entries)
    for items in _batches(folded.pending):
        first = items[0]
        batch = Batch(
            tenant=tenant,
            key=first.job[:300],
            items=_in_their_places(items),
            run=first.run,
            agent=first.agent,
            accepted_at=first.at,
        )
        known = Known.model_construct(entries=entries, deletions=folded.deletions)
        decided = plan(batch, known, policy=policy, at=at)
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


def by_words(query: Query, entries: Iterable[Entry]) -> list[Hit]:
    """Return what shares words with the query, with the share of the query's words."""
    wanted = set(stems(query.text))
    hits: list[Hit] = []
    for entry in entries:
        if entry.confidence < query.min_confidence:
            continue
        if isinstance(entry, Memory):
            if query.memory_types and entry.memory_type not in query.memory_types:
                continue
        elif isinstance(entry, Record) and query.lane is not None and entry.lane != query.lane:
            continue
        said = stems(headline_of(entry.text))
        if shared := wanted & set(said):
            hits.append(Hit(entry, bm25=len(shared) / len(wanted), words=" ".join(said)))
    return hits


def _in_their_places(lines: Sequence[Accepted]) -> tuple[Item | UnusableItem, ...]:
    of = {line.index: line.item for line in lines}
    return tuple(of.get(index) or UnusableItem(reason="") for index in range(max(of) + 1))


def _batches(pending: Sequence[Accepted]) -> list[list[Accepted]]:
    batches: dict[str, list[Accepted]] = {}
    for line in pending:
        batches.setdefault(line.job, []).append(line)
    return list(batches.values())
