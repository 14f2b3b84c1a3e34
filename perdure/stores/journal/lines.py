"""The content of the journal's lines, and how they are written. Pure: bytes and values, no file."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from perdure.model import Instant, Stored, TenantId
from perdure.names import DEFAULT_POLICY
from perdure.tolerance import Tolerant, taken_back, tolerant
from perdure.values.changes import Actor, Deletion, Refusal
from perdure.values.consents import Consent
from perdure.values.entries import Entry
from perdure.values.items import Item, item_id
from perdure.values.jobs import Batch, BatchItem, SessionNote, UnusableItem
from perdure.values.memberships import Membership


class Accepted(Stored):
    """An item was accepted: a line for each, so that one can be erased without touching the others."""

    kind: Literal["accepted"] = "accepted"
    job: str
    index: int
    """The item's place in its batch."""
    id: str
    """The record or memory that it becomes."""
    item: Item
    task: str = ""
    agent: str | None = None
    session: str = ""
    """The session that it was extracted from; empty: it was given."""
    noted_in: SessionNote | None = None
    """The session in which it is noted once it is believed."""
    policy: str = DEFAULT_POLICY
    """The write policy that decides on it."""
    stated_by: str = ""
    """In a team's or an agent's memory, the user who asked, as ``identity.author_id`` says."""
    by: Actor | None = None
    """Who asked; None: the task, or an unnamed caller."""
    unusable: dict[str, UnusableItem] = Field(default_factory=dict[str, UnusableItem])
    """The places of the batch that have no line, since they were refused or are held, by their numbers."""
    at: Instant
    recorded: Instant | None = None
    """When it was said or learned, where it waited before it was offered; None: when it was accepted."""


class Changed(Stored):
    """An entry is about to be written. A later line shows whether it was."""

    kind: Literal["changed"] = "changed"
    entry: Entry
    """The whole entry, with its new version."""
    operation: str
    by: Actor
    why: str
    note: str = ""
    """The reason in somebody's own words."""
    at: Instant


class Settled(Stored):
    """An operation is done: what it changed is in the store, and what it refused is not memory."""

    kind: Literal["settled"] = "settled"
    operation: str
    """For a job the job's id."""
    versions: dict[str, int] = Field(default_factory=dict[str, int])
    """The version of each entry that it changed."""
    refused: tuple[Refusal, ...] = ()
    at: Instant


class Forgotten(Stored):
    """A line of the deletion log, as it now is; the last one about an id counts."""

    kind: Literal["forgotten"] = "forgotten"
    deletion: Deletion


class Rewriting(Stored):
    """An entry is about to be deleted from the store and written anew as it is, since no search finds it."""

    kind: Literal["rewriting"] = "rewriting"
    entry: Entry
    at: Instant


class Consented(Stored):
    """What a user consents to, or no longer does."""

    kind: Literal["consented"] = "consented"
    consent: Consent


class Enrolled(Stored):
    """Somebody belongs to the team or agent whose log it is, or no longer does."""

    kind: Literal["enrolled"] = "enrolled"
    membership: Membership


class Named(Stored):
    """The user whose log it is may be named in a list of members: their erasure looks there."""

    kind: Literal["named"] = "named"
    owner: TenantId
    """Whose list it is."""


Line = Annotated[
    Accepted | Changed | Settled | Forgotten | Rewriting | Consented | Enrolled | Named, Field(discriminator="kind")
]
"""Anything that the journal says."""

_line: TypeAdapter[Line] = TypeAdapter(Line)
_lines: Tolerant[Line] = tolerant(Line)


def encode(lines: Iterable[Line]) -> bytes:
    """Return lines as they are written."""
    return b"".join(_line.dump_json(line) + b"\n" for line in lines)


def of_kind(*kinds: type[Stored]) -> tuple[str, ...]:
    """Return what the raw lines of these kinds have in them, for ``Journal.read``; a payload may have it in it too.

    >>> of_kind(Consented)
    ('"kind":"consented"',)
    """
    return tuple(f'"kind":"{kind.model_fields["kind"].default}"' for kind in kinds)


def decode(raw: bytes) -> Line | None:
    """Return the content of a line; None for one that a newer build or a crash has left."""
    try:
        return _lines.read(raw)
    except ValidationError:
        return None


def accepted(job: str, batch: Batch, at: Instant) -> list[Accepted]:
    """Return the lines of a batch's items, without those that could not be read."""
    unusable = {str(index): item for index, item in enumerate(batch.items) if isinstance(item, UnusableItem)}
    return [
        Accepted(
            job=job,
            index=index,
            id=item_id(batch.tenant, item),
            item=item,
            task=batch.task,
            agent=batch.agent,
            session=batch.session,
            noted_in=batch.noted_in,
            policy=batch.policy,
            stated_by=batch.stated_by,
            by=batch.by,
            unusable=unusable,
            at=at,
            recorded=batch.recorded[index] if index < len(batch.recorded) else None,
        )
        for index, item in enumerate(batch.items)
        if not isinstance(item, UnusableItem)
    ]


def recorded(lines: Sequence[Accepted], size: int) -> tuple[Instant, ...]:
    """Return when each item of a batch was said or learned, as far as its lines say so; empty: when it was accepted."""
    if all(line.recorded is None for line in lines):
        return ()
    known = {line.index: line.recorded or line.at for line in lines}
    return tuple(known.get(index, lines[0].at) for index in range(size))


def batch_of(tenant: str, lines: Sequence[Accepted]) -> Batch:
    """Return the batch in the lines of one job, as far as it is kept; each item has its place.

    Args:
        tenant: Whose it is.
        lines: The lines, at least one.
    """
    first = lines[0]
    items: dict[int, BatchItem] = {int(index): item for index, item in first.unusable.items()}
    items |= {line.index: line.item for line in lines}
    missing = UnusableItem(reason="it is erased")
    kept = {
        "tenant": tenant,
        "key": first.job,
        "items": tuple(items.get(index, missing) for index in range(max(items) + 1)),
        "recorded": recorded(lines, max(items) + 1),
        "task": first.task,
        "agent": first.agent,
        "session": first.session,
        "noted_in": first.noted_in,
        "policy": first.policy,
        "stated_by": first.stated_by,
        "by": first.by,
        "accepted_at": first.at,
    }
    return taken_back(Batch, kept)


def known(content: Iterable[bytes]) -> list[Line]:
    """Return the lines that this build understands, in their order."""
    return [line for raw in content if raw.strip() and (line := decode(raw)) is not None]


def ids_of(line: Line) -> Sequence[str]:
    """Return the entries whose text a line holds."""
    match line:
        case Accepted():
            return (line.id,)
        case Changed() | Rewriting():
            return (line.entry.id,)
        case Settled() | Forgotten() | Consented() | Enrolled() | Named():
            return ()
