"""What one more observation makes of an entry. Pure: absolute values from what is stored and what was seen."""

from datetime import datetime
from typing import Any

from perdure.entries import OCCURRENCES_KEPT, Memory, MemoryItem, Record, RecordItem, State, record_text
from perdure.jobs import Batch
from perdure.memory.writing.planning import occurrence_of

REINFORCEMENT = 0.1
"""What one more independent observation adds to a memory's confidence (R32)."""


def observed(
    stored: Record | Memory | None, identifier: str, item: RecordItem | MemoryItem, batch: Batch
) -> Record | Memory:
    """Give the entry after an observation.

    The same observation again changes nothing, so a retry never inflates "seen". A forgotten entry that is
    observed anew starts over: nothing of its old life comes back. A memory that was replaced is believed again.
    """
    occurrence = occurrence_of(batch.tenant, item)
    if stored is None or stored.state is State.FORGOTTEN:
        return _fresh(identifier, item, batch, occurrence, version=stored.version if stored else 1)
    if occurrence in stored.occurrences:
        return stored
    seen = {
        "occurrences": (*stored.occurrences, occurrence)[-OCCURRENCES_KEPT:],
        "seen": stored.seen + 1,
        "first_seen": min(stored.first_seen, item.occurred_at),
        "last_seen": max(stored.last_seen, item.occurred_at),
        "importance": item.importance if item.importance is not None else stored.importance,
    }
    if isinstance(stored, Record) and isinstance(item, RecordItem):
        newest = {
            "text": record_text(item),
            "run": batch.run,
            "agent": batch.agent or "",
            "intent": item.intent,
            "confidence": item.confidence,
            "valid_until": item.valid_until,
        }
        return stored.changed(**(seen | (newest if item.occurred_at >= stored.last_seen else {})))
    if isinstance(stored, Memory) and isinstance(item, MemoryItem) and stored.state is State.SUPERSEDED:
        again = {
            "state": State.CURRENT,
            "superseded_by": "",
            "supersedes": item.supersedes,
            "confidence": item.confidence,
            "valid_until": item.valid_until,
        }
        return stored.changed(**(seen | again))
    more = {
        "confidence": round(min(1.0, stored.confidence + REINFORCEMENT), 6),
        "valid_until": _end(stored, item) if item.occurred_at >= stored.last_seen else stored.valid_until,
    }
    return stored.changed(**(seen | more))


def _end(stored: Record | Memory, item: RecordItem | MemoryItem) -> datetime | None:
    """Give until when something holds that was just observed: a past end is refuted, an open one is news of none."""
    if item.valid_until is None and stored.valid_until is not None and stored.valid_until > item.occurred_at:
        return stored.valid_until
    return item.valid_until


def superseded(stored: Memory, by: str) -> Memory:
    """Give a memory after another one replaced it: kept, and no longer recalled."""
    if stored.superseded_by == by:
        return stored
    return stored.changed(state=State.SUPERSEDED, superseded_by=by)


def _fresh(
    identifier: str, item: RecordItem | MemoryItem, batch: Batch, occurrence: str, *, version: int
) -> Record | Memory:
    common: dict[str, Any] = {
        "id": identifier,
        "occurrences": (occurrence,),
        "first_seen": item.occurred_at,
        "last_seen": item.occurred_at,
        "confidence": item.confidence,
        "importance": item.importance,
        "valid_until": item.valid_until,
        "version": version,
    }
    if isinstance(item, RecordItem):
        return Record(
            **common,
            text=record_text(item),
            lane=item.lane,
            key=item.key,
            payload=item.payload,
            intent=item.intent,
            run=batch.run,
            agent=batch.agent or "",
        )
    return Memory(
        **common,
        text=item.content,
        memory_type=item.memory_type,
        source=item.source,
        tags=item.tags,
        supersedes=item.supersedes,
    )
