"""What a correction changes of a memory, and what it says instead. Pure."""

from datetime import datetime
from typing import Any

from perdure.entries import Described, Memory, Source
from perdure.errors import InvalidInput
from perdure.items import MemoryItem
from perdure.memory.extraction.statements import stated_by
from perdure.memory.updating.learning import names_learned
from perdure.updates import Correction

_FIELDS = frozenset(Described.model_fields) | {"valid_until"}


def fields_of(memory: Memory, update: Correction, at: datetime) -> dict[str, Any]:
    """Return what a correction changes of a memory beside the text, by name."""
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


def item_of(
    memory: Memory, update: Correction, fields: dict[str, Any], text: str, *, operation: str, at: datetime
) -> MemoryItem:
    """Return what a person would have remembered who had said it as it is corrected.

    Args:
        memory: The memory as it is.
        update: The correction.
        fields: What it changes beside the text.
        text: What it says afterwards.
        operation: The id of the operation.
        at: When it is corrected.
    """
    described: dict[str, Any] = {name: getattr(memory, name) for name in Described.model_fields}
    values: dict[str, Any] = {**described, "valid_until": memory.valid_until, **fields, "source": Source.EXPLICIT}
    return MemoryItem(
        **values,
        content=text,
        confidence=update.confidence,
        importance=memory.importance,
        supersedes=memory.id,
        # The same may be corrected in the same way again, once it was purged and observed anew.
        occurrence=f"{operation} {at.isoformat()}",
        occurred_at=at,
    )
