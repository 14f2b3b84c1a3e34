"""Entries to Weaviate's properties and back. Pure: no client, no clock.

``text`` and ``document`` together are the whole entry. Every other property is a projection of it for
filters and word search, and is never read back: so a new field needs no change of schema.
"""

from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from pydantic import JsonValue, TypeAdapter, ValidationError

from perdure.errors import EntryUnreadable
from perdure.tolerance import read_back
from perdure.values.entries import MARKER, Entry, Memory, Record, Turn, headline_of, payload_of
from perdure.values.labels import halves, labels_of
from perdure.words import ENGLISH, stems

Kind = Literal["record", "memory", "turn"]
"""The kinds of entries; each has a collection of its own."""

KINDS: tuple[Kind, ...] = ("record", "memory", "turn")

RETURNED = ["text", "document"]
"""The properties that ``entry_from`` needs."""

WORDS = "words"
"""The property that is searched by words."""

NEVER = 2**53 - 1
"""What stands for "no such moment": later than any other, and still exact in Weaviate's doubles."""

ALWAYS = -NEVER
"""What stands for "no beginning that is known"."""

EVERYWHERE = "*"
"""What stands for "no scope": it counts everywhere. No scope has this name."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MODELS: dict[Kind, type[Record | Memory | Turn]] = {"record": Record, "memory": Memory, "turn": Turn}
_string: TypeAdapter[str] = TypeAdapter(str)


def micros(moment: datetime | None) -> int:
    """Return a moment as an integer that orders exactly as moments do, to the microsecond.

    Beyond the year 2255 all moments are the same one, and the same as none.
    """
    if moment is None:
        return NEVER
    return max(-NEVER, min(NEVER, (moment - _EPOCH) // timedelta(microseconds=1)))


def properties_of(entry: Entry, language: str = ENGLISH) -> dict[str, JsonValue]:
    """Return all properties of an entry, also those without a value, so that a write leaves nothing of an older one.

    Args:
        entry: Any kind of entry.
        language: The language that its words are stemmed in.

    Raises:
        InvalidInput: For a record whose text does not carry a payload: it could not be read back.
    """
    apart = {"text"}
    if isinstance(entry, Record):
        payload_of(entry.text)
        apart = {"text", "payload"}
    properties: dict[str, JsonValue] = {
        "identifier": entry.id,
        WORDS: " ".join(stems(headline_of(entry.text), language)),
        "text": entry.text,
        "document": entry.model_dump_json(exclude=apart),
        "state": entry.state.value,
        "confidence": entry.confidence,
        "version": entry.version,
        "last_seen": micros(entry.newest[0]),
        "recorded_at": micros(entry.newest[1]),
        "valid_until": micros(entry.valid_until),
        "forget_after": micros(entry.forget_after),
        "forget_reason": entry.forget_reason,
        "rules_version": entry.rules_version,
        "purge_after": micros(entry.purge_after),
    }
    if isinstance(entry, Record):
        return properties | {"lane": entry.lane.value, "key": entry.key, "task": entry.task}
    if isinstance(entry, Turn):
        return properties | {"speaker": entry.speaker}
    described: dict[str, JsonValue] = {
        "memory_type": entry.memory_type.value,
        "about": [*(entry.assertion.about if entry.assertion else ())],
        "names": [*labels_of(entry.called)],
        "halves": [*dict.fromkeys(half for name in entry.called for half in sorted(halves(name)))],
        "linked": [*labels_of([relation.to for relation in entry.relations])],
        "scopes": [*(entry.scopes or [EVERYWHERE])],
        "tags": [*entry.tags],
        "pinned": entry.pinned,
        "purpose": entry.purpose.value,
        "task": entry.task,
        "valid_from": ALWAYS if entry.valid_from is None else micros(entry.valid_from),
    }
    return properties | described


def entry_from(kind: Kind, text: str, document: str, uuid: int) -> Entry:
    """Rebuild an entry from what was stored of it under an object's id; a record's payload from its text alone.

    Raises:
        EntryUnreadable: It is none that this build can read. The message has the field and the object's id in Weaviate,
            and nothing of its content.
    """
    # The parts are spliced as JSON and parsed once: 6 µs an entry, where parsing, adding and validating
    # one after the other takes 13 µs, and a question reads a hundred.
    parts = [f'{{"text":{_string.dump_json(text).decode()}', document[1:]]
    if kind == "record":
        parts.insert(1, f'"payload":{_payload_json(text)}')
    try:
        return read_back(_MODELS[kind], ",".join(parts))
    except ValidationError as problem:
        # Further in, names are content.
        field, *_ = (*problem.errors(include_input=False)[0]["loc"], "document")
        problem = f"this build cannot read the {field} of the {kind} that is stored as object {UUID(int=uuid)}"
        raise EntryUnreadable(f"{problem}: run a newer one, or see what Weaviate has there") from None


def _payload_json(text: str) -> str:
    return text.rpartition(f"\n{MARKER}")[2]
