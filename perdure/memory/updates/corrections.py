"""What a correction changes in a memory, and what the memory says instead. Pure."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from perdure.errors import InvalidInput
from perdure.memory.extraction.statements import stated_by
from perdure.memory.updates.learned_names import names_learned
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.conclusions import objection_to
from perdure.memory.writing.contradictions import doubt
from perdure.model import Unit
from perdure.values.changes import ActorKind
from perdure.values.entries import Described, Entry, Memory, MemoryType, Source
from perdure.values.items import MemoryItem, statement
from perdure.values.updates import Correction

_BY_A_PERSON = 0.95
"""The confidence in a person's correction (R32)."""

_BY_OTHERS = 0.9
"""The confidence in an agent's or a schedule's correction: as in what it remembers."""

_FIELDS = frozenset(Described.model_fields) | {"valid_until"}


def fields_of(memory: Memory, update: Correction, at: datetime) -> dict[str, Any]:
    """Return the fields of a memory that a correction changes in addition to the text, by name."""
    given = {name: getattr(update, name) for name in update.model_fields_set & _FIELDS}
    fields = {name: value for name, value in given.items() if value is not None}
    if update.content is not None:
        stated = stated_by(update.content, at)
        fields = stated.dates | fields | {"assertion": stated.assertion}
    if update.asked:
        names = memory.names if update.names is None else update.names
        fields["names"] = names_learned(update.asked, names, f"{memory.text} {update.content or ''}")
    return fields


def require_lasting(memory: Memory, fields: dict[str, Any], at: datetime) -> None:
    """Check that a memory still holds once it is corrected.

    Raises:
        InvalidInput: It would end before it begins, or has ended.
    """
    begin, end = fields.get("valid_from", memory.valid_from), fields.get("valid_until")
    if end is not None and end <= at:
        raise InvalidInput("valid_until", f"{end:%Y-%m-%d} is over", fix="forget it instead: perdure memories forget")
    if end is not None and begin is not None and end <= begin:
        raise InvalidInput("valid_until", f"{end:%Y-%m-%d} is not after valid_from", fix="give a later day")


def says_the_same(memory: Memory, item: MemoryItem) -> bool:
    """Return whether a correction keeps a memory's meaning, in other words or with other fields."""
    now, before = (item.memory_type, statement(item.content)), (memory.memory_type, statement(memory.text))
    return now == before


def as_said_of(stored: Memory, item: MemoryItem, fields: dict[str, Any]) -> MemoryItem:
    """Return what a correction changes of an existing memory: dates and scopes only if it gives them."""
    kept = {name: getattr(stored, name) for name in ("valid_from", "valid_until", "scopes") if name not in fields}
    return item.changed(**kept)


def overriding(memory: Memory, others: Iterable[Memory]) -> set[str]:
    """Return the ids of those of other memories that override one until they end, merged ones included."""
    named = {one.by for one in memory.suspended}
    return {one.id for one in others if not named.isdisjoint((one.id, *one.merged_from))}


def fields_beside(new: Entry, update: Correction, fields: dict[str, Any]) -> dict[str, Any]:
    """Return what a correction changes of a memory that already says the same, and has names of its own."""
    if update.names is not None or not update.asked or not isinstance(new, Memory):
        return fields
    return {**fields, "names": names_learned(update.asked, new.names, new.text)}


def require_permitted(item: MemoryItem, by: ActorKind, policy: WritePolicy) -> None:
    """Check that the write policy lets the actor have a correction believed without a person's approval.

    Raises:
        InvalidInput: A person has to approve it.
    """
    if by is not ActorKind.PERSON and (reason := policy.hold.reason(item, by)):
        raise InvalidInput("update", reason, fix="remember it instead: it then waits for a person")


def require_believable(item: MemoryItem, update: Correction, by: ActorKind, policy: WritePolicy) -> None:
    """Check that what a correction says may be believed of an agent; anybody else may have anything believed.

    Raises:
        InvalidInput: It may not.
    """
    if by is ActorKind.AGENT and update.content is not None and (reason := objection_to(item, policy)):
        raise InvalidInput("content", reason)


def require_undoubted(memory: Memory, item: MemoryItem, by: ActorKind, confidence: Unit | None = None) -> None:
    """Check that the actor who corrects a memory may say that it was wrong, or holds less, or at another time.

    Args:
        memory: The memory.
        item: What it is to say.
        by: Who corrects it: a person may say anything.
        confidence: How much it is to be believed, if that is given.

    Raises:
        InvalidInput: An actor other than a person contradicts what a person said, or would lift a constraint.
    """
    if by is ActorKind.PERSON:
        return
    reason = ""
    if not says_the_same(memory, item) or (memory.valid_from, memory.valid_until) != (
        item.valid_from,
        item.valid_until,
    ):
        lifted = "it would lift a constraint" if memory.memory_type is MemoryType.CONSTRAINT else ""
        reason = doubt(memory, item) or lifted
    elif memory.source is Source.EXPLICIT or memory.memory_type is MemoryType.CONSTRAINT:
        everywhere = not item.scopes or (memory.scopes and {*memory.scopes} <= {*item.scopes})
        if not everywhere or (confidence is not None and confidence < memory.confidence):
            reason = "it would hold less than what a person said, or a constraint, does"
    if reason:
        raise InvalidInput("update", f"{reason}: {memory.id}", fix="remember it instead: it then waits for a person")


def require_kept(over: Iterable[Memory], field: str, by: ActorKind) -> None:
    """Check that the actor may have replaced what a changed memory contradicts: a person may have anything replaced.

    Raises:
        InvalidInput: An actor other than a person would lift a constraint.
    """
    for memory in over:
        if by is not ActorKind.PERSON and memory.memory_type is MemoryType.CONSTRAINT:
            fix = "remember it instead: it then waits for a person"
            raise InvalidInput(field, f"it would lift a constraint: {memory.id}", fix=fix)


def believed_anew(memory: Memory, update: Correction, by: ActorKind) -> tuple[Source, Unit]:
    """Return source and confidence of a memory that says the same; by default, only a person changes them."""
    if by is ActorKind.PERSON:
        return Source.EXPLICIT, _BY_A_PERSON if update.confidence is None else update.confidence
    return memory.source, memory.confidence if update.confidence is None else update.confidence


def item_of(
    memory: Memory,
    update: Correction,
    fields: dict[str, Any],
    text: str,
    *,
    by: ActorKind,
    operation: str,
    at: datetime,
) -> MemoryItem:
    """Return the item that would have been remembered if the corrected text had been said.

    Args:
        memory: The memory as it is.
        update: The correction.
        fields: What it changes in addition to the text.
        text: What it says afterwards.
        by: Who corrects it; a correction that no person makes counts as learned.
        operation: The id of the operation.
        at: When it is corrected.
    """
    described: dict[str, Any] = {name: getattr(memory, name) for name in Described.model_fields}
    source, usual = (Source.EXPLICIT, _BY_A_PERSON) if by is ActorKind.PERSON else (Source.LEARNED, _BY_OTHERS)
    values: dict[str, Any] = {**described, "valid_until": memory.valid_until, **fields, "source": source}
    return MemoryItem(
        **values,
        content=text,
        confidence=usual if update.confidence is None else update.confidence,
        importance=memory.importance,
        supersedes=memory.id,
        # The same memory may be corrected in the same way again, once it was purged and observed again.
        occurrence=f"{operation} {at.isoformat()}",
        occurred_at=at,
    )
