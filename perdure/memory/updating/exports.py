"""What is remembered of a user as lines of JSON, and back. Pure: text and values, no file and no store.

The first line says what the file is and how many entries follow. Each of the others is one entry with the history of
its versions and a digest of both, by which a line that was damaged is found.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from perdure.documents import refused, validated
from perdure.entries import Described, Entry, Memory, Record, State
from perdure.errors import InvalidInput, InvalidItem, PerdureError
from perdure.identity import content_digest
from perdure.items import Item, import_of
from perdure.memory.updating.versions import versions
from perdure.memory.writing.checking import LARGEST_BATCH, read_item
from perdure.model import Instant, Passed
from perdure.stores.journal.lines import Line
from perdure.updates import Version

SCHEMA = "perdure.memories"
VERSION = 1

_MOST = 100
"""Items of a batch."""


class Header(Passed):
    """The first line of an export."""

    exported: Literal["perdure.memories"]
    version: int
    count: Annotated[int, Field(ge=0)]
    """The entries that follow."""
    at: Instant


class Exported(Passed):
    """One entry of an export."""

    entry: Entry
    history: tuple[Version, ...] = ()
    """Its versions that are kept, oldest first."""


class ExportedLine(Exported):
    """A line after the first one."""

    digest: Annotated[str, Field(json_schema_extra={"pattern": "^[0-9a-f]{64}$"})]
    """The SHA-256 of the other fields as JSON, in ASCII and with sorted keys: what Python's ``json.dumps`` writes."""


def schema() -> dict[str, JsonValue]:
    """Return the JSON Schema of each line of an export."""
    lines = TypeAdapter(Header | ExportedLine).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of {SCHEMA}, version {VERSION}",
        "description": "The first line is a Header; each of the others is an ExportedLine.",
        **lines,
    }


def written(entries: Mapping[str, Entry], lines: Sequence[Line], *, at: datetime) -> Iterator[str]:
    """Return the lines of an export.

    Args:
        entries: What is remembered of the user, by id.
        lines: The lines of the journal of the same moment.
        at: That moment.
    """
    yield Header(exported=SCHEMA, version=VERSION, count=len(entries), at=at).model_dump_json()
    for identifier in sorted(entries):
        one = Exported(entry=entries[identifier], history=tuple(versions(lines, identifier)))
        content = one.model_dump(mode="json")
        yield json.dumps({**content, "digest": content_digest(content)}, ensure_ascii=False)


def read(lines: Iterable[str]) -> list[Exported]:
    """Read an export as a whole.

    Raises:
        InvalidInput: It is not an export, or is of a newer build, cut off or damaged; with the line.
    """
    numbered = enumerate((line.rstrip("\n") for line in lines), start=1)
    number, first = next(numbered, (1, ""))
    header = _header(first, number)
    found: list[Exported] = []
    seen: set[str] = set()
    for number, line in numbered:
        one = _exported(line, number)
        if one.entry.id in seen:
            raise InvalidInput(f"line {number}", f"{one.entry.id} is duplicated")
        seen.add(one.entry.id)
        found.append(one)
    if len(found) != header.count:
        problem = f"there are {len(found)} entries, and the header says {header.count}"
        raise InvalidInput(f"line {number}", problem, fix="the file was cut off or put together: export it again")
    return found


def items(exported: Sequence[Exported]) -> list[JsonValue]:
    """Return the items of an export that can be remembered: replaced or forgotten ones are history, and left out.

    Raises:
        InvalidItem: One cannot be remembered; with its id.
    """
    return [_item(one.entry) for one in exported if one.entry.state is State.CURRENT]


def batches(given: Sequence[JsonValue]) -> Iterator[tuple[JsonValue, ...]]:
    """Return items in batches that one job may take."""
    batch: list[JsonValue] = []
    size = 0
    for item in given:
        own = len(json.dumps(item))
        if batch and (len(batch) == _MOST or size + own > LARGEST_BATCH // 2):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(item)
        size += own
    if batch:
        yield tuple(batch)


def _header(line: str, number: int) -> Header:
    content = _json(line, number)
    if content.get("exported") != SCHEMA:
        fix = "give a file that 'perdure memories export' has written"
        raise InvalidInput(f"line {number}", "is not the header of an export", fix=fix)
    if content.get("version") != VERSION:
        problem = f"has version {content.get('version')}, and this build reads {VERSION}"
        raise InvalidInput(f"line {number}", problem, fix="import it with the build that wrote it, or a newer one")
    return validated(Header, content, f"line {number}")


def _exported(line: str, number: int) -> Exported:
    content = _json(line, number)
    digest = content.pop("digest", None)
    if digest != content_digest(content):
        raise InvalidInput(f"line {number}", "is not as it was exported: it was damaged or changed")
    try:
        return Exported.model_validate(content)
    except ValidationError as error:
        found = refused(error, Exported, "", data=content)
        raise InvalidInput(f"line {number}", f"{found.field}: {found.problem}", fix=found.fix) from None


def _json(line: str, number: int) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidInput(f"line {number}", "is not JSON") from None
    if not isinstance(content, dict):
        raise InvalidInput(f"line {number}", "is not a JSON object")
    return cast("dict[str, Any]", content)


def _item(entry: Entry) -> JsonValue:
    common: dict[str, Any] = {
        "kind": entry.kind,
        "confidence": entry.confidence,
        "importance": entry.importance,
        "valid_until": entry.valid_until,
        "occurrence": import_of(entry.id),
        "occurred_at": entry.last_seen,
    }
    own: dict[str, Any]
    if isinstance(entry, Memory):
        own = {name: getattr(entry, name) for name in Described.model_fields}
        own |= {"content": entry.text}
    elif isinstance(entry, Record):
        own = {name: getattr(entry, name) for name in ("lane", "key", "payload", "intent")}
        own |= {"summary": entry.text.split("\n")[0]}
    else:
        own = {name: getattr(entry, name) for name in ("session", "position", "speaker")}
        own |= {"content": entry.text.removeprefix(f"{entry.speaker}: ")}
    try:
        item: Item = read_item(TypeAdapter(dict[str, Any]).dump_python({**common, **own}, mode="json"), entry.id)
    except PerdureError as error:
        raise InvalidItem(entry.id, f"cannot be remembered: {error}") from error
    return item.model_dump(mode="json", exclude_defaults=True) | {"kind": entry.kind}
