"""Recall from the mirror's lines, for when the store does not answer. Pure: no file, no store, no clock.

The mirror has what was accepted, not what became of it: what a plan would reject is here too, and what
memory learned later is not. So it answers only for a store that is down, and says so.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import Any

from perdure.entries import Hit, Item, Memory, MemoryItem, Record, RecordItem, record_text
from perdure.episodes import Episode
from perdure.memory.recall.query import Query
from perdure.stores.journal.lines import EpisodeLine, MirrorLine
from perdure.stores.journal.reconcile import Reconciled, reconcile

_WORD = re.compile(r"\w+")
_STOP = frozenset(
    _WORD.findall(
        "a an and are as at be but by did do does for from had has have how i in is it its me my not of on or our "
        "she he so that the their them they this to was we were what when where which who why will with you your"
    )
)


def local_entries(query: Query, lines: Iterable[MirrorLine]) -> list[Record | Memory]:
    """Give what the mirror knows that recall may return, as the entries that it would become."""
    found = reconcile(query.tenant, (), lines)
    replaced: dict[str, datetime] = {}
    for item in chain.from_iterable(_replacing(one) for one in found):
        replaced[item.supersedes] = max(item.occurred_at, replaced.get(item.supersedes, item.occurred_at))
    entries = [
        _entry(one)
        for one in found
        # What replaced something after it was replaced itself is believed again.
        if one.id not in replaced or any(item.occurred_at > replaced[one.id] for item in _replacing(one))
    ]
    return [entry for entry in entries if entry.valid_until is None or entry.valid_until > query.now]


def exact(query: Query, entries: Iterable[Record | Memory]) -> list[Record]:
    """Give the records in the query's lane and under its keys, those seen last first."""
    records = [
        entry
        for entry in entries
        if isinstance(entry, Record) and entry.lane == query.lane and (not query.keys or entry.key in query.keys)
    ]
    return sorted(records, key=lambda record: (record.last_seen, record.id), reverse=True)


def by_words(query: Query, entries: Iterable[Record | Memory]) -> list[Hit]:
    """Give what shares words with the query, and which share of the query's words."""
    wanted = _words(query.text)
    hits: list[Hit] = []
    for entry in entries:
        if entry.confidence < query.min_confidence:
            continue
        if isinstance(entry, Memory):
            if query.memory_types and entry.memory_type not in query.memory_types:
                continue
        elif query.lane is not None and entry.lane != query.lane:
            continue
        shared = wanted & _words(entry.text)
        if shared:
            hits.append(Hit(entry, bm25=len(shared) / len(wanted)))
    return hits


def waiting_episodes(session: str, lines: Iterable[MirrorLine]) -> list[Episode]:
    """Give the session's episodes that wait for Redis, each once."""
    found = {
        line.episode.id: line.episode for line in lines if isinstance(line, EpisodeLine) and line.session == session
    }
    return list(found.values())


def _replacing(one: Reconciled) -> list[MemoryItem]:
    return [item for item in one.items if isinstance(item, MemoryItem) and item.supersedes]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _STOP


def _entry(one: Reconciled) -> Record | Memory:
    moments = [item.occurred_at for item in one.items]
    newest: Item = max(one.items, key=lambda item: item.occurred_at)
    common: dict[str, Any] = {
        "id": one.id,
        "seen": len(one.items),
        "first_seen": min(moments),
        "last_seen": max(moments),
        "confidence": newest.confidence,
        "importance": newest.importance,
        "valid_until": newest.valid_until,
    }
    if isinstance(newest, RecordItem):
        return Record(
            **common,
            text=record_text(newest),
            lane=newest.lane,
            key=newest.key,
            payload=newest.payload,
            intent=newest.intent,
        )
    return Memory(
        **common,
        text=newest.content,
        memory_type=newest.memory_type,
        source=newest.source,
        tags=newest.tags,
        supersedes=newest.supersedes,
    )
