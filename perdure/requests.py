"""What can be asked of memory from outside a task, by who knows the user and not the tenant; and what became of it."""

from typing import Annotated

from pydantic import Field, JsonValue

from perdure.changes import Actor, ActorKind
from perdure.entries import Lane
from perdure.identity import UserId
from perdure.model import Instant, Name, Passed, Request

SOMEBODY = Actor(kind=ActorKind.PERSON)
"""A person who did not say who they are."""


class RecallRequest(Request):
    """A question to memory.

    >>> request = RecallRequest(user_id="ada", text="which licence does nodeenv have?")
    >>> request.limit
    10
    """

    user_id: UserId
    text: str = ""
    lane: Lane | None = None
    keys: tuple[str, ...] = ()
    limit: int = 10
    session: str = ""
    """The session whose episodes count; empty: none."""


class RememberRequest(Request):
    """Items to remember; the same key with the same items is the same job again."""

    user_id: UserId
    key: Annotated[str, Field(min_length=1, max_length=300)]
    items: tuple[JsonValue, ...]
    agent: Name | None = None
    by: Actor = SOMEBODY


class ForgetRequest(Request):
    """A sweep."""

    dry_run: bool = False
    """Only report what would be forgotten."""
    user_id: str = ""
    """Sweep this user only, whether or not something is due; empty: everybody who has something due."""
    approved: bool = False
    """A person has looked: the guard does not hold anything."""
    at: Instant | None = None
    """The moment of the sweep; None: when it runs."""
    by: Actor = SOMEBODY


class Report(Passed):
    """What a sweep did so far, without content."""

    tenants: int = 0
    forgotten: int = 0
    purged: int = 0
    held: tuple[str, ...] = ()
    """Tenants of which so much is due that a person has to look first, at most 20."""
    failed: tuple[str, ...] = ()
    """Tenants that were left to the next sweep, and why, at most 20."""
    reasons: dict[str, int] = Field(default_factory=dict[str, int])
    """How many entries were forgotten for each reason."""
    examples: tuple[str, ...] = ()
    """Ids of what was forgotten, at most 20."""


class ForgetResult(Passed):
    """How a sweep ended."""

    sweep: str
    """The id by which it can be undone."""
    dry_run: bool
    report: Report


class UndoRequest(Request):
    """The undoing of a sweep."""

    sweep: str = ""
    """The sweep's id; empty: the user's latest."""
    user_id: str = ""
    """Undo it for this user only."""
    by: Actor = SOMEBODY


class UndoResult(Passed):
    """How an undoing ended."""

    sweep: str
    restored: int


class Reference(Passed):
    """Where the result of a recall is kept for a few minutes, so that no history holds it."""

    tenant: str
    id: str
