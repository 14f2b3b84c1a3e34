"""An entry after one more observation. Pure: absolute values from the stored state and the observation."""

from collections import ChainMap
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from perdure.memory.writing.contradictions import ending, overtaken, replaces, suspended, unlinked
from perdure.memory.writing.provenance import author_of, is_its_import, occurrence_of, purpose_of, recorded_at
from perdure.tolerance import changed_back, taken_back
from perdure.values.entries import (
    MOST_AUTHORS,
    MOST_NAMES,
    OCCURRENCES_KEPT,
    Described,
    Entry,
    Memory,
    Purpose,
    Record,
    State,
    Turn,
)
from perdure.values.items import Item, MemoryItem, RecordItem, TurnItem, imported_id, item_id, item_text
from perdure.values.jobs import Batch, BatchItem, Decision, PlannedItem, UnusableItem, WritePlan

REINFORCEMENT = 0.1
"""What one more independent observation adds to a memory's confidence (R32)."""

MOST_WORDINGS = 100
"""How many other wordings of a memory are known by their ids, in 7 kB at most; the newest. A choice."""

WRITING = frozenset({Decision.INSERT, Decision.REINFORCE, Decision.SUPERSEDE})
"""The decisions that lead to a write."""

_REFUSED = "long-term memory refuses it"


def observed(
    stored: Entry | None,
    identifier: str,
    item: Item,
    batch: Batch,
    recorded: datetime | None = None,
    *,
    replaced: str = "",
) -> Entry:
    """Return the entry after an observation, which was recorded at a moment; None: when it was made.

    The same observation again changes nothing, so a retry never inflates "seen"; nor does an import of the entry
    itself. Where the list of observations is full, another one may be a retry, and is not counted. A forgotten entry
    that is observed anew starts over: nothing of its old life comes back. A memory that was replaced is believed again.
    """
    occurrence, recorded = occurrence_of(batch.tenant, item), recorded or item.occurred_at
    if stored is None or stored.state is State.FORGOTTEN:
        fresh = _fresh(identifier, item, batch, occurrence).changed(recorded_at=recorded)
        return fresh.changed(supersedes=replaced) if replaced else fresh
    if occurrence in stored.occurrences or is_its_import(item, stored):
        return stored
    is_newest = (item.occurred_at, recorded) >= stored.newest
    newest = (item.occurred_at, recorded) if is_newest else stored.newest
    counts = len(stored.occurrences) < OCCURRENCES_KEPT
    seen: dict[str, Any] = {
        "occurrences": (*stored.occurrences, occurrence) if counts else stored.occurrences,
        "seen": stored.seen + counts,
        "first_seen": min(stored.first_seen, item.occurred_at),
        "last_seen": newest[0],
        "recorded_at": newest[1],
        "importance": item.importance if item.importance is not None else stored.importance,
    }
    imported, author = bool(imported_id(item)), author_of(batch, item)
    # What somebody wrote into a file makes nothing surer.
    confidence = min(item.confidence, stored.confidence) if imported else item.confidence
    if isinstance(stored, Record) and isinstance(item, RecordItem):
        latest = {
            "text": item_text(item),
            "task": batch.task,
            "agent": batch.agent or "",
            "intent": item.intent,
            "confidence": confidence,
            "valid_until": item.valid_until,
        }
        return stored.changed(**(seen | (latest if is_newest else {})))
    if isinstance(stored, Memory) and purpose_of(batch, item) is Purpose.GIVEN:
        seen["purpose"] = Purpose.GIVEN
    if isinstance(stored, Memory) and isinstance(item, MemoryItem) and stored.state is State.SUPERSEDED:
        again = {
            "state": State.CURRENT,
            "superseded_by": "",
            "superseded_at": None,
            "contradicted": False,
            "supersedes": item.supersedes or replaced,
            "valid_from": item.valid_from,
            "suspended": (),
            "confidence": confidence,
            "valid_until": item.valid_until,
            "authors": _authors((), author),
        }
        return stored.changed(**(seen | again))
    # It takes the place of a change that was still to come, which is not what ends it any more.
    stays = isinstance(stored, Memory) and replaced != "" and stored.superseded_by == replaced
    more = {
        "confidence": round(min(1.0, stored.confidence + REINFORCEMENT * (counts and not imported)), 6),
        "valid_until": stored.valid_until if not is_newest else item.valid_until if stays else _end(stored, item),
    }
    if isinstance(stored, Memory) and isinstance(item, MemoryItem) and is_newest:
        more |= {"supersedes": replaced} if replaced else {}
        ended = stored.valid_until is not None and stored.valid_until <= item.occurred_at
        if ended or (stored.valid_from is not None and stored.valid_from > item.occurred_at):
            more |= {"valid_from": item.valid_from}
        if ended or stays:
            # What replaced it from its end on does not any more, and may do so again.
            more |= {"superseded_by": "", "superseded_at": None, "contradicted": False}
        if item.valid_from is None or item.valid_from <= item.occurred_at:
            # What is said again holds again, whatever temporary thing went before it.
            more |= {"suspended": ()}
    if isinstance(stored, Memory) and isinstance(item, MemoryItem):
        # Whatever somebody calls it by finds it.
        more |= {"names": tuple(dict.fromkeys((*stored.names, *item.names)))[:MOST_NAMES]}
        more |= {"authors": _authors(stored.authors, author), "wordings": reworded(stored, item_id(batch.tenant, item))}
    return stored.changed(**(seen | more))


def reworded(memory: Memory, *ids: str) -> tuple[str, ...]:
    """Return the wordings of a memory after it was said in words in which its id would be one of these."""
    others = (one for one in (*memory.wordings, *ids) if one != memory.id)
    return tuple(dict.fromkeys(others))[-MOST_WORDINGS:]


def _authors(known: tuple[str, ...], author: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *filter(None, (author,)))))[:MOST_AUTHORS]


def _end(stored: Entry, item: Item) -> datetime | None:
    """Return until when something holds that was just observed.

    An observation after the end refutes it; one before the end that names none leaves it as it is.
    """
    if item.valid_until is None and stored.valid_until is not None and stored.valid_until > item.occurred_at:
        return stored.valid_until
    return item.valid_until


def after(batch: Batch, planned: PlannedItem, stored: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries that one planned item changes, without those that it names in ``supersedes``."""
    item = batch.items[planned.index]
    if isinstance(item, UnusableItem) or planned.decision not in WRITING:
        return {}
    before = stored.get(planned.target)
    others = [other for identifier in planned.over if isinstance(other := stored.get(identifier), Memory)]
    made = {other.id: other for other in others if other.superseded_by == planned.target}
    others = [other for other in others if other.state is State.CURRENT and other.id not in made]
    ends = ending(item, before) if isinstance(item, MemoryItem) else None
    replaced = [other.id for other in others if ends and replaces(ends, other)]
    coming = before.superseded_by if isinstance(before, Memory) else ""
    link = coming if coming in replaced else next(iter([*replaced, *made]), "")
    recorded = recorded_at(batch, planned.index, item)
    entries: dict[str, Entry] = {planned.target: observed(before, planned.target, item, batch, recorded, replaced=link)}
    if isinstance(new := entries[planned.target], Memory):
        entries[planned.target] = suspended(new, planned.under, recorded)
    if ends:
        entries |= {other.id: overtaken(other, ends, planned.target, recorded) for other in others} | made
    return entries


def applied(
    batch: Batch, decided: WritePlan, stored: Mapping[str, Entry], refused: Collection[str] = ()
) -> dict[str, tuple[Entry, Decision]]:
    """Return each entry that a plan writes, as it is afterwards, and the last decision about it.

    Args:
        batch: What was offered.
        decided: The decisions on it.
        stored: The entries at the versions that the plan expects; those that it expects to be new are absent.
        refused: The entries that the store refuses, and that stay as they are.
    """
    written: dict[str, Entry] = {}
    known = ChainMap(written, dict(stored))
    entries: dict[str, tuple[Entry, Decision]] = {}
    named_ones = {_named(batch, planned) for planned in decided.items}
    for planned in decided.items:
        changed = after(batch, planned, known)
        # With each item, as if it had come alone; what the batch names is replaced only below.
        then = known.new_child(changed)
        changed = {identifier: unlinked(entry, then, named_ones) for identifier, entry in changed.items()}
        written.update(changed)
        entries |= {identifier: (entry, planned.decision) for identifier, entry in changed.items()}
    # Only now, so that what is replaced stays replaced by a batch that also observes it.
    for planned in decided.items:
        item = batch.items[planned.index]
        named = _named(batch, planned)
        if named and named not in refused and isinstance(item, MemoryItem):
            replaced, decision = entries.get(named, (stored.get(named), Decision.SUPERSEDE))
            if not isinstance(replaced, Memory) or replaced.state is State.FORGOTTEN:
                continue
            if replaced.superseded_by != planned.target:
                replaced = replaced.superseded(planned.target, recorded_at(batch, planned.index, item))
            # Also one that an earlier attempt has replaced, which is still to be settled and audited.
            entries[replaced.id] = replaced, decision
    for identifier, (entry, decision) in entries.items():
        if isinstance(entry, Memory) and entry.supersedes not in entries:
            # It could not be replaced.
            entries[identifier] = unlinked(entry, stored), decision
    return entries


def successors(batch: Batch, decided: WritePlan) -> dict[str, set[str]]:
    """Return the entries that overtake others, by the ids of those: until they are stored, nothing is overtaken."""
    found: dict[str, set[str]] = {}
    for planned in decided.items:
        if planned.decision in WRITING:
            # What is said again holds again, whatever has overtaken it before.
            found.pop(planned.target, None)
            for other in planned.over:
                found.setdefault(other, set()).add(planned.target)
    for planned in decided.items:
        if named := _named(batch, planned):
            found.setdefault(named, set()).add(planned.target)
    return found


def _named(batch: Batch, planned: PlannedItem) -> str:
    """Return the memory that an item says it replaces, where the plan has it do so."""
    item = batch.items[planned.index]
    return item.supersedes if planned.decision is Decision.SUPERSEDE and isinstance(item, MemoryItem) else ""


def unusable(batch: Batch, reasons: Mapping[str, str]) -> Batch:
    """Return a batch in which the items are unusable whose own entries the store refuses.

    What was said in other words may still become an entry of its own.
    """

    def left(item: BatchItem) -> BatchItem:
        found = None if isinstance(item, UnusableItem) else reasons.get(item_id(batch.tenant, item))
        return item if found is None else UnusableItem(reason=f"{_REFUSED}: {found}")

    return changed_back(batch, items=tuple(map(left, batch.items)))


def without(batch: Batch, decided: WritePlan, reasons: Mapping[str, str]) -> WritePlan:
    """Return a plan that writes none of the entries that the store refuses.

    An item is rejected if its own entry is refused. It is kept if only what it replaces is, which stays as it was: by
    then the item may be stored.

    Args:
        batch: What was offered.
        decided: The decisions on it.
        reasons: Why the store refuses entries, by id.
    """

    def left(planned: PlannedItem) -> PlannedItem:
        if planned.decision not in WRITING:
            return planned
        if planned.target in reasons:
            reason = f"{_REFUSED}: {reasons[planned.target]}"
            return PlannedItem(index=planned.index, decision=Decision.REJECT, reason=reason)
        named = _named(batch, planned)
        stays = [one for one in dict.fromkeys((*planned.over, named)) if one in reasons]
        if not stays:
            return planned
        over = tuple(one for one in planned.over if one not in reasons)
        replaces_none = planned.decision is Decision.SUPERSEDE and not over and named in ("", *stays)
        decision = Decision.INSERT if not decided.expected.get(planned.target) else Decision.REINFORCE
        notes = [f"it could not replace {one}, as {_REFUSED}: {reasons[one]}" for one in stays]
        return planned.changed(
            decision=decision if replaces_none else planned.decision,
            over=over,
            reason="; ".join(filter(None, (planned.reason, *notes))),
        )

    return decided.changed(items=tuple(map(left, decided.items)))


def _fresh(identifier: str, item: Item, batch: Batch, occurrence: str) -> Entry:
    common: dict[str, Any] = {
        "id": identifier,
        "occurrences": (occurrence,),
        "first_seen": item.occurred_at,
        "last_seen": item.occurred_at,
        "confidence": item.confidence,
        "importance": item.importance,
        "valid_until": item.valid_until,
    }
    if isinstance(item, RecordItem):
        return Record(
            **common,
            text=item_text(item),
            lane=item.lane,
            key=item.key,
            payload=item.payload,
            intent=item.intent,
            task=batch.task,
            agent=batch.agent or "",
        )
    if isinstance(item, TurnItem):
        place: dict[str, Any] = {"session": item.session, "position": item.position, "speaker": item.speaker}
        return Turn(**common, **place, text=item_text(item))
    described = {name: getattr(item, name) for name in Described.model_fields}
    memory: dict[str, Any] = {
        "text": item.content,
        "task": batch.task,
        "supersedes": item.supersedes,
        "purpose": purpose_of(batch, item),
        "authors": _authors((), author_of(batch, item)),
    }
    return taken_back(Memory, {**common, **described, **memory})
