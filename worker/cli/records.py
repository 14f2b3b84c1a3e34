"""What a person types to be remembered, a statement or a record of a lane, as an item. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from perdure.documents import validated
from perdure.errors import InvalidItem
from perdure.values.entries import Lane, MemoryType
from perdure.values.items import record_model
from worker.cli.values import json_or_text


def require_one_kind(
    what: Mapping[str, object], *, of_memory: Mapping[str, object], of_record: Mapping[str, object]
) -> None:
    """Refuse what says nothing, says two things, or says of one kind of item what only another kind has.

    Args:
        what: The statement, the file and the lane, by how they are typed.
        of_memory: The options that only a statement has.
        of_record: The options that only a record has.

    Raises:
        InvalidItem: Naming the argument.
    """
    if isinstance(file := what["--file"], str) and not file.strip():
        raise InvalidItem("--file", "is empty", fix="name a file, or give - for what is piped in")
    if not any(what.values()):
        fix = (
            "give either a statement, or --file with a JSON list of items, or --lane with a record's --key and --field"
        )
        raise InvalidItem("content", "is missing" if what["content"] is None else "is empty", fix=fix)
    if what["--file"] and what["--lane"]:
        raise InvalidItem("--lane", "is given together with --file", fix="write the lane in the file's items")
    if what["--file"] and what["content"]:
        fix = "give either a statement, or --file with a JSON list of items"
        raise InvalidItem("content", "is given together with --file", fix=fix)
    for name, value in of_record.items():
        if value and not what["--lane"]:
            raise InvalidItem(name, "does not fit what is remembered", fix=f"add --lane {' or '.join(Lane)}")
    for name, value in of_memory.items():
        if value and not what["content"]:
            fix = "write it in the file's items" if what["--file"] else "leave it out: a record has none"
            raise InvalidItem(name, "does not fit what is remembered", fix=fix)


def memory_of(
    content: str, memory_type: MemoryType | None, confidence: float | None, supersedes: str
) -> dict[str, JsonValue]:
    """Return a statement as an item."""
    given = {"memory_type": memory_type and memory_type.value, "confidence": confidence, "supersedes": supersedes}
    return {"kind": "memory", "content": content, **{name: value for name, value in given.items() if value is not None}}


def record_of(
    lane: Lane,
    *,
    key: str,
    summary: str,
    intent: str,
    fields: Sequence[str],
    occurrence: str,
    confidence: float | None,
) -> dict[str, JsonValue]:
    """Return the item, once the lane's model has checked it.

    >>> record_of(Lane.PATTERN, key="ci", summary="", intent="", fields=["cores=2"], occurrence="", confidence=None)
    {'kind': 'record', 'lane': 'pattern', 'key': 'ci', 'payload': {'cores': 2}}

    Args:
        lane: Which log.
        key: What it is looked up by.
        summary: A sentence for people and for search.
        intent: What it was done for.
        fields: Its payload, field by field: NAME=VALUE, the value as JSON where it is JSON, or as text.
        occurrence: Where it was observed; empty: here.
        confidence: How sure it is; None: as sure as can be.

    Raises:
        InvalidItem: It has no key, a field cannot be read, or it is no record of the lane.
    """
    if not key.strip():
        raise InvalidItem("--key", "is missing", fix=f"with --lane, add --key with what the {lane} is looked up by")
    given = {"summary": summary, "intent": intent, "occurrence": occurrence, "confidence": confidence}
    item: dict[str, JsonValue] = {
        "kind": "record",
        "lane": lane.value,
        "key": key,
        "payload": _payload(fields),
        **{name: value for name, value in given.items() if value not in ("", None)},
    }
    # Where and when it was observed is filled in later.
    observed = {"occurrence": "here", **item, "occurred_at": datetime.now(UTC)}
    validated(record_model(lane), observed, "", InvalidItem)
    return item


def _payload(fields: Sequence[str]) -> dict[str, JsonValue]:
    payload: dict[str, JsonValue] = {}
    for field in fields:
        name, equals, value = field.partition("=")
        if not (equals and name.strip()):
            raise InvalidItem("--field", f"{field!r} is not NAME=VALUE", fix="write --field licence=MIT")
        if name in payload:
            raise InvalidItem("--field", f"{name!r} is given twice", fix=f"write a list: --field '{name}=[…]'")
        payload[name] = json_or_text(value, f"--field {name}")
    return payload
