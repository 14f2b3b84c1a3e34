"""What to do with each item of a batch. Pure: from what is stored and what is offered to decisions.

Similarity only nominates. With all-MiniLM-L6-v2, "likes peanuts" and "does not like peanuts" have a
cosine of .979, while true paraphrases have .72 to .74 (measured): so a neighbour is reinforced only when it
says the same words, and everything else is a memory of its own.
"""

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from perdure.changes import Deletion
from perdure.entries import OCCURRENCES_KEPT, Entry, Memory, State
from perdure.errors import InvalidItem
from perdure.identity import occurrence_id
from perdure.items import Item, MemoryItem, item_id, statement
from perdure.jobs import Batch, BatchItem, Decision, PlannedItem, UnusableItem, WritePlan
from perdure.memory.policies import WritePolicy
from perdure.memory.writing.checking import require_timely
from perdure.model import Model


class Known(Model):
    """What the stores know about a batch, read before it is planned."""

    entries: Mapping[str, Entry]
    """What the items would become, what they replace, and what replaced those."""
    deletions: Mapping[str, Deletion]
    neighbours: Mapping[int, Sequence[Memory]]
    """For each item's index, the current memories nominated by similarity."""
    operation: str = ""
    """The batch's own, where an attempt may have written some of it: to that nothing is objected any more."""


def occurrence_of(tenant: str, item: Item) -> str:
    """Return the short form of the id of the observation that an item reports, as entries and deletions list it.

    It has 48 bits: of an entry's 1,024 observations, two look like one in 2 of a billion entries.
    """
    whole = occurrence_id(tenant, "caller", item.occurrence).removeprefix("occ_")
    return base64.urlsafe_b64encode(bytes.fromhex(whole[:12])).decode()


def recorded_at(batch: Batch, index: int, item: Item) -> datetime:
    """Return when an item was recorded: when its batch was accepted, each item later than the one before it."""
    if batch.accepted_at is None:
        return item.occurred_at
    return batch.accepted_at + timedelta(microseconds=index)


def same_statement(one: str, other: str) -> bool:
    """Return whether two sentences have the same words in the same order, but for case, articles and stops."""
    return statement(one) == statement(other)


def plan(batch: Batch, known: Known, *, policy: WritePolicy, at: datetime, epoch: int = 0) -> WritePlan:
    """Decide on every item of a batch."""
    planned = [_decide(batch, index, item, known, policy) for index, item in enumerate(batch.items)]
    expected: dict[str, int] = {}
    for item, decided in zip(batch.items, planned, strict=True):
        touched = [decided.target] if decided.target else []
        if decided.decision is Decision.SUPERSEDE and isinstance(item, MemoryItem):
            touched.append(item.supersedes)
        for identifier in touched:
            entry = known.entries.get(identifier)
            expected[identifier] = entry.version if entry else 0
    return WritePlan(at=at, items=tuple(planned), expected=expected, epoch=epoch)


def _decide(batch: Batch, index: int, item: BatchItem, known: Known, policy: WritePolicy) -> PlannedItem:
    tenant = batch.tenant
    if isinstance(item, UnusableItem):
        return _rejected(index, item.reason)
    target = item_id(tenant, item)
    stored = known.entries.get(target)
    written = stored is not None and known.operation in stored.operations
    if not written and (objection := _objection(batch, index, item, known, policy)):
        return _rejected(index, objection)
    if isinstance(item, MemoryItem) and item.supersedes:
        return PlannedItem(index=index, decision=Decision.SUPERSEDE, target=target)
    if stored is not None and stored.state is not State.FORGOTTEN:
        reason = _not_counted(occurrence_of(tenant, item), stored)
        return PlannedItem(index=index, decision=Decision.REINFORCE, target=target, reason=reason)
    if isinstance(item, MemoryItem) and (twin := _twin(item, known.neighbours.get(index, ()))):
        return PlannedItem(index=index, decision=Decision.REINFORCE, target=twin.id, reason="it says the same words")
    return PlannedItem(index=index, decision=Decision.INSERT, target=target)


def _not_counted(occurrence: str, stored: Entry) -> str:
    if occurrence in stored.occurrences:
        return "this observation is known already"
    return f"it is counted up to {OCCURRENCES_KEPT:,} times" if len(stored.occurrences) >= OCCURRENCES_KEPT else ""


def _objection(batch: Batch, index: int, item: Item, known: Known, policy: WritePolicy) -> str:
    tenant = batch.tenant
    if problem := _untimely(batch, index, item, known):
        return problem
    if not isinstance(item, MemoryItem):
        return ""
    if problem := _replaced_already(tenant, item, known):
        return problem
    if item.confidence < policy.minimum_confidence:
        field, low = f"items[{index}].confidence", f"{item.confidence} is below {policy.minimum_confidence}"
        return str(InvalidItem(field, low, fix="verify it first"))
    if item.supersedes and (problem := _cannot_replace(tenant, item, known.entries.get(item.supersedes))):
        return str(InvalidItem(f"items[{index}].supersedes", problem))
    return ""


def _untimely(batch: Batch, index: int, item: Item, known: Known) -> str:
    """Return why an observation comes too early, or too late; empty: it does not."""
    if batch.accepted_at is not None:
        try:
            require_timely(item, batch.accepted_at, f"items[{index}]")
        except InvalidItem as problem:
            return str(problem)
    target = item_id(batch.tenant, item)
    deletion = known.deletions.get(target)
    # A line of which the entry stands is a sweep under way: whichever is written first decides.
    if deletion is None or deletion.is_unfinished(known.entries.get(target)):
        return ""
    if not deletion.covers(occurrence_of(batch.tenant, item), recorded_at(batch, index, item)):
        return ""
    return f"it was forgotten on {deletion.at:%Y-%m-%d}: {deletion.reason}"


def _cannot_replace(tenant: str, item: MemoryItem, replaced: Entry | None) -> str:
    target = item_id(tenant, item)
    if not isinstance(replaced, Memory):
        return "no such memory of this user"
    if replaced.id == target:
        return "a memory cannot replace itself"
    if replaced.state is State.FORGOTTEN or replaced.superseded_by not in ("", target):
        return "that memory is no longer believed"
    return ""


def _replaced_already(tenant: str, item: MemoryItem, known: Known) -> str:
    """Return why a memory that was replaced is not believed again; empty: it may be."""
    stored = known.entries.get(item_id(tenant, item))
    if not isinstance(stored, Memory) or stored.state is not State.SUPERSEDED:
        return ""
    problem = f"it was replaced by {stored.superseded_by}"
    if occurrence_of(tenant, item) in stored.occurrences:
        return problem
    successor = known.entries.get(stored.superseded_by)
    if item.supersedes or successor is None or successor.state is State.FORGOTTEN:
        return ""
    return f"{problem} (if it holds again, say in supersedes what it replaces)"


def _twin(item: MemoryItem, neighbours: Sequence[Memory]) -> Memory | None:
    return next(
        (
            memory
            for memory in neighbours
            if memory.memory_type is item.memory_type and same_statement(memory.text, item.content)
        ),
        None,
    )


def _rejected(index: int, reason: str) -> PlannedItem:
    return PlannedItem(index=index, decision=Decision.REJECT, reason=reason)
