"""What is remembered of a user as lines of JSON, and back. Pure: text and values, no file and no store.

The first line says what the file is and how many lines follow. Each of the others is one thing that is remembered, by
its kind, and a digest, by which a line that was damaged is found. Only entries are taken back from it: what else a file
says, a person who can write files must not be able to give themselves.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from perdure.documents import refused, validated
from perdure.errors import InvalidInput, InvalidItem, PerdureError
from perdure.identity import content_digest
from perdure.memory.updates.versions import versions_by_entry
from perdure.memory.writing.batch_checks import read_item
from perdure.model import Instant, Passed, TenantId
from perdure.plurals import counted
from perdure.stores.journal.lines import Line
from perdure.values.consents import Consent
from perdure.values.entries import Described, Entry, Memory, Record, State
from perdure.values.episodes import Episode
from perdure.values.items import Item, import_of
from perdure.values.memberships import Membership
from perdure.values.session_items import SessionItem
from perdure.values.updates import Version

SCHEMA = "perdure.memories"
VERSION = 1


class Header(Passed):
    """The first line of an export."""

    exported: Literal["perdure.memories"]
    version: int
    count: Annotated[int, Field(ge=0)]
    """The lines that follow."""
    at: Instant


class Exported(Passed):
    """One entry of an export."""

    kind: Literal["entry"] = "entry"
    entry: Entry
    history: tuple[Version, ...] = ()
    """Its versions that are kept, oldest first."""


class ExportedConsent(Passed):
    """What was said last about one purpose."""

    kind: Literal["consent"] = "consent"
    consent: Consent


class ExportedMembership(Passed):
    """That a user belongs to a team or an agent: the user whose export it is, or one of the members of its owner.

    Only the user who exports is named, and everybody else is known by their tenant.
    """

    kind: Literal["membership"] = "membership"
    owner: TenantId
    """The team's or agent's own tenant."""
    of: str = ""
    """Its id, where the export is of its memory: nothing keeps the id of any other one."""
    membership: Membership


class ExportedHold(Passed):
    """A memory on hold, which a person has to approve before it is believed."""

    kind: Literal["held"] = "held"
    id: str
    item: Item
    reason: str
    """Why it waits."""
    until: Instant
    """The deadline for the person's answer."""
    doubt: bool = False
    """Whether it contradicts what is believed."""


class ExportedEpisode(Passed):
    """What happened in a session."""

    kind: Literal["episode"] = "episode"
    session: str
    """Identifies the session by a digest: its name is not kept."""
    episode: Episode


class ExportedSessionItem(Passed):
    """What an agent's session holds, in the session's order."""

    kind: Literal["session_item"] = "session_item"
    session: str
    """Identifies the session by a digest: its name is not kept."""
    place: Annotated[int, Field(ge=0)]
    """Its place in the session."""
    item: SessionItem


ExportedLine = Annotated[
    Exported | ExportedConsent | ExportedMembership | ExportedHold | ExportedEpisode | ExportedSessionItem,
    Field(discriminator="kind"),
]
"""What a line after the first one says, besides its digest."""

_KINDS: dict[str, type[Passed]] = {
    "entry": Exported,
    "consent": ExportedConsent,
    "membership": ExportedMembership,
    "held": ExportedHold,
    "episode": ExportedEpisode,
    "session_item": ExportedSessionItem,
}

_LEFT: dict[str, str] = {
    "entry": "it was replaced or forgotten",
    "consent": "no file gives or takes back a consent (perdure memories consent)",
    "membership": "no file makes anybody a member (perdure memories members add)",
    "held": "nobody has approved it (perdure remember offers it again)",
    "episode": "what happened in a session happens only once",
    "session_item": "an agent's session goes on where it is (its agent adds to it)",
}
"""Why a line is not taken back, by its kind."""


def schema() -> dict[str, JsonValue]:
    """Return the JSON Schema of each line of an export."""
    lines = TypeAdapter(Header | ExportedLine).json_schema()
    for model in _KINDS.values():
        shape = lines["$defs"][model.__name__]
        shape["properties"]["digest"] = {
            "description": "The SHA-256 of the other fields as JSON, in ASCII and with sorted keys.",
            "pattern": "^[0-9a-f]{64}$",
            "type": "string",
        }
        shape["required"] = sorted({*shape.get("required", ()), "kind", "digest"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of {SCHEMA}, version {VERSION}",
        "description": "The first line is a Header; each of the others has a kind and a digest.",
        **lines,
    }


def written(
    entries: Mapping[str, Entry],
    lines: Sequence[Line],
    *,
    at: datetime,
    others: Sequence[ExportedLine] = (),
    user_id: str | None = None,
) -> Iterator[str]:
    """Return the lines of an export.

    Args:
        entries: What is remembered of the user, by id.
        lines: The lines of the journal of the same moment.
        at: That moment.
        others: What belongs to it besides entries.
        user_id: Who exports, and is the only person whom the history names; None: it names whoever changed something.
    """
    versions = versions_by_entry(lines)

    def kept(identifier: str) -> tuple[Version, ...]:
        found = versions.get(identifier, ())
        return tuple(found if user_id is None else (one.changed(by=one.by.seen_by(user_id)) for one in found))

    yield Header(exported=SCHEMA, version=VERSION, count=len(entries) + len(others), at=at).model_dump_json()
    found = (Exported(entry=entries[identifier], history=kept(identifier)) for identifier in sorted(entries))
    for one in chain(found, others):
        content = one.model_dump(mode="json")
        yield json.dumps({**content, "digest": content_digest(content)}, ensure_ascii=False)


class Export(NamedTuple):
    """What an export says."""

    entries: list[Exported]
    others: list[ExportedLine]
    """What is not an entry, in its order."""


def read(lines: Iterable[str]) -> Export:
    """Read an export as a whole.

    Raises:
        InvalidInput: It is not an export, or is of a newer build, cut off or damaged; with the line.
    """
    numbered = enumerate((line.rstrip("\n") for line in lines), start=1)
    number, first = next(numbered, (1, ""))
    header = _header(first, number)
    found = Export([], [])
    seen: set[str] = set()
    for number, line in numbered:
        one = _exported(line, number)
        if not isinstance(one, Exported):
            found.others.append(one)
            continue
        if one.entry.id in seen:
            raise InvalidInput(f"line {number}", f"{one.entry.id} is duplicated")
        seen.add(one.entry.id)
        found.entries.append(one)
    if (count := len(found.entries) + len(found.others)) != header.count:
        problem = f"it has {counted(count, 'line')}, and the header says {header.count}"
        raise InvalidInput(f"line {number}", problem, fix="the file was cut off or put together: export it again")
    return found


def items(export: Export) -> list[JsonValue]:
    """Return the items of an export that can be remembered; ``left_out`` names the rest.

    Raises:
        InvalidItem: One cannot be remembered; with its id.
    """
    # In the order in which they were said, so that of two that contradict each other the later one holds again.
    current = sorted((one.entry for one in export.entries if one.entry.state is State.CURRENT), key=_said)
    return [_item(entry) for entry in current]


def _said(entry: Entry) -> tuple[datetime, datetime, str]:
    return *entry.newest, entry.id


def left_out(export: Export) -> dict[str, int]:
    """Return how much of an export is not taken back, by what it is and why."""
    gone = (one for one in export.entries if one.entry.state is not State.CURRENT)
    return dict(Counter(f"{one.kind}: {_LEFT[one.kind]}" for one in chain(gone, export.others)))


def _header(line: str, number: int) -> Header:
    content = _json(line, number)
    if content.get("exported") != SCHEMA:
        fix = "give a file that 'perdure memories export' has written"
        raise InvalidInput(f"line {number}", "is not the header of an export", fix=fix)
    if content.get("version") != VERSION:
        problem = f"has version {content.get('version')}, and this build reads {VERSION}"
        raise InvalidInput(f"line {number}", problem, fix="import it with the build that wrote it, or a newer one")
    return validated(Header, content, f"line {number}")


def _exported(line: str, number: int) -> ExportedLine:
    content = _json(line, number)
    digest = content.pop("digest", None)
    if digest != content_digest(content):
        raise InvalidInput(f"line {number}", "is not as it was exported: it was damaged or changed")
    kind = _KINDS.get(str(content.get("kind")))
    if kind is None:
        fix = "import it with the build that wrote it, or a newer one"
        raise InvalidInput(f"line {number}", f"kind: there is no {content.get('kind')!r}", fix=fix)
    try:
        return cast("ExportedLine", kind.model_validate(content))
    except ValidationError as error:
        found = refused(error, kind, "", data=content)
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
