"""Changes that a person or an agent can make to memories, and their results. Pure values."""

from typing import Annotated, Literal

from pydantic import Field

from perdure.identity import OwnerId, UserId
from perdure.model import Instant, Name, Passed, Request, Text, Unit
from perdure.values.changes import PROGRAM, Actor
from perdure.values.entries import Entry, Label, MemoryType, Relation

Note = Annotated[str, Field(max_length=500)]
"""A reason in somebody's own words: kept with the history of what was changed, and never logged."""


class Correction(Passed):
    """A correction of what a memory says; fields that are not given stay as they are."""

    kind: Literal["correct"] = "correct"
    content: Text | None = None
    memory_type: MemoryType | None = None
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] | None = None
    names: Annotated[tuple[Label, ...], Field(max_length=20)] | None = None
    relations: Annotated[tuple[Relation, ...], Field(max_length=20)] | None = None
    scopes: Annotated[tuple[Name, ...], Field(max_length=20)] | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    confidence: Unit | None = None
    """Its confidence; None: .95 if a person corrects it, otherwise .9 if it says something else."""
    asked: Annotated[str, Field(max_length=2_000)] = ""
    """The question whose recall is corrected: the word it uses for the memory becomes one of its names."""


class Feedback(Passed):
    """Whether a memory helped."""

    kind: Literal["refine"] = "refine"
    helpful: bool
    key: Annotated[str, Field(max_length=300)] = ""
    """What it is about, a task or a message, say: the same actor's same feedback about it is counted once, also if it
    is sent again after a time-out. Without one it is about the version that is expected; without that as well, each
    is counted."""


class Pinning(Passed):
    """Whether a memory is in every context."""

    kind: Literal["pin"] = "pin"
    pinned: bool


class Removal(Passed):
    """Something is forgotten, which can be undone for a while."""

    kind: Literal["forget"] = "forget"


class Merger(Passed):
    """A merger of two memories, with the text of the first."""

    kind: Literal["merge"] = "merge"
    other: str
    """The id of the second."""


class Credit(Passed):
    """How a task that recalled a memory ended."""

    kind: Literal["credit"] = "credit"
    task: Annotated[str, Field(min_length=1, max_length=300)]
    """The task's workflow id: one task is one trial, however often it is reported."""
    succeeded: bool


class Reversion(Passed):
    """The return of a memory to what it said at an earlier version."""

    kind: Literal["revert"] = "revert"
    version: Annotated[int, Field(ge=1)]


Update = Annotated[Correction | Feedback | Pinning | Removal | Merger | Credit | Reversion, Field(discriminator="kind")]
"""Anything that can be done to a memory by its id."""


class MemoryUpdate(Request):
    """A change of one memory, by its id."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    """The memory's id, as ``recall`` gives it; another user's counts as nonexistent."""
    update: Update
    expected: Annotated[int, Field(ge=1)] | None = None
    """The version that it must still have; None: any. With one, the same change may be requested again if its answer
    was lost, and is made once."""
    sending: Annotated[str, Field(max_length=200)] = ""
    """Your own id of this sending: the same change sent again under it is made once, whatever version there is."""
    note: Note = ""
    """Why, in the words of the one who asks."""
    by: Actor = PROGRAM


class UpdateRequest(MemoryUpdate):
    """A change of one memory, of a user or of an owner that the user belongs to."""

    user_id: UserId
    of: OwnerId | None = None
    """Whose memory it is: a team's or an agent's that the user belongs to; None: the user's own."""
    asked_at: Instant | None = None
    """When it was asked, so that an erasure since then keeps it out; None: when a worker is asked."""


class Updated(Passed):
    """What became of a change, without content."""

    tenant: str
    id: str
    """The memory that carries it now: another one if it says something else."""
    versions: dict[str, int]
    """The version of each entry that was changed."""
    undo: str = ""
    """For something forgotten: the id by which that is undone, as a sweep's."""


class Version(Passed):
    """One version of an entry: who made it of the one before, why and when."""

    version: int
    at: Instant
    by: Actor
    why: str
    note: str = ""
    entry: Entry


class Rejection(Passed):
    """An item that did not become memory, without its text."""

    job: str
    """The job that it was offered to, or the hold that it waited in."""
    index: int
    at: Instant
    reason: str
