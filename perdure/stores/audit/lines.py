"""The content of the audit's lines. Pure: values and bytes, no file."""

import json

from pydantic import Field, ValidationError

from perdure.model import Instant, OpenEnum, Passed, Stored
from perdure.policies.ruling import Ruling
from perdure.tolerance import read_back
from perdure.values.changes import Actor


class AuditKind(OpenEnum):
    """What a line is about. An unknown kind is a newer build's: it is checked like any other, and not shown."""

    OPENED = "opened"
    """The first line of a chain."""
    CHANGED = "changed"
    """Somebody changed memories."""
    READ = "read"
    """Somebody read memories."""
    RULED = "ruled"
    """Policies decided about a call of a tool for somebody."""
    ADMITTED = "admitted"
    """Somebody came in to a service."""
    TURNED_AWAY = "turned_away"
    """Somebody did not: the token does not count, or does not permit what was asked for."""
    ADMINISTERED = "administered"
    """Somebody was about to do what only an administrator does: to make or revoke a token, say."""
    HEADS = "heads"
    """How far other chains have come."""
    LOST = "lost"
    """Reads that could not be written in time, by their number."""
    REMOVED = "removed"
    """Old chains that are about to be removed on purpose."""
    ACCEPTED = "accepted"
    """A loss that a person knows of: the lines of a chain after ``number``, up to the head."""
    CLOSED = "closed"
    """The last line of a chain, whose process ended in order or goes on in another file."""


ACTS = frozenset(
    {
        AuditKind.CHANGED,
        AuditKind.READ,
        AuditKind.RULED,
        AuditKind.ADMITTED,
        AuditKind.TURNED_AWAY,
        AuditKind.ADMINISTERED,
    }
)
"""What concerns somebody."""


class AuditHead(Passed):
    """A line by which the whole chain before it is known."""

    file: str
    line: int
    """Its number, counted from 1."""
    mac: str
    """Its HMAC, in hex."""


class AuditLine(Stored):
    """One line. Its number and its HMAC stand around it."""

    kind: AuditKind
    at: Instant
    tenant: str = ""
    """Whose memories."""
    operation: str = ""
    """The id of the change or the recall: the same one is written once."""
    by: Actor | None = None
    """Who. The user whose memories they are stands here under their tenant."""
    ids: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    """Which entries, for each reason."""
    ruling: Ruling | None = None
    """What policies decided."""
    number: int = 0
    """How many entries, where they are too many to be named; how many reads were lost; the last line that is
    left of a chain."""
    heads: tuple[AuditHead, ...] = ()
    """How far other chains have come; those that are removed; what is known to be lost."""
    process: str = ""
    """The machine and the number of the process that writes the chain."""


def encode(line: AuditLine) -> bytes:
    """Return a line's JSON."""
    # Its form's version stands in each line, whatever a later build takes for the default.
    fields = {"format": line.format, **line.model_dump(mode="json", exclude_defaults=True)}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def decode(raw: bytes) -> AuditLine | None:
    """Return the content of a line; None if this build does not understand it."""
    try:
        return read_back(AuditLine, raw)
    except ValidationError:
        return None
