"""Requests to memory from outside a task, by callers who know the user and not the tenant; and their results."""

from collections import Counter
from typing import Annotated

from pydantic import Field, JsonValue

from perdure.identity import OwnerId, UserId
from perdure.model import Instant, Name, Passed, QueryText, Request
from perdure.names import DEFAULT_POLICY
from perdure.values.changes import PROGRAM, Actor
from perdure.values.entries import Lane, MemoryType, Purpose
from perdure.values.statements import Ground, Said
from perdure.values.strategies import ProfileName, Strategy

LookupKey = Annotated[str, Field(max_length=200)]
"""What a record is looked up by, at most as long as one can be."""


class OwnedRequest(Request):
    """What a user asks of a memory."""

    user_id: UserId
    of: OwnerId | None = None
    """Whose memory it is: a team's or an agent's that the user belongs to; None: the user's own."""


class RecallRequest(OwnedRequest):
    """A question to memory.

    >>> request = RecallRequest(user_id="ada", text="which licence does nodeenv have?")
    >>> request.limit
    10
    """

    text: QueryText = ""
    lane: Lane | None = None
    keys: Annotated[tuple[LookupKey, ...], Field(max_length=1_000)] = ()
    limit: int = 10
    session: Annotated[str, Field(max_length=300)] = ""
    """The session whose episodes count; empty: none."""
    strategy: Strategy = Strategy.BALANCED
    profile: ProfileName | None = None
    """The weights of the order; None: the strategy's own."""
    memory_types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    """Only what counts in one of these scopes; what has none counts everywhere."""
    since: Instant | None = None
    """Only what was last observed at this moment or later."""
    until: Instant | None = None
    """Only what was last observed before this moment."""
    task: str = ""
    """Only what the task with this workflow id wrote, or what is tagged so."""
    min_confidence: float | None = None
    """Items with less confidence are left out; None: as the installation is configured."""
    explain: bool = False
    """Whether to say what was left out, and why."""
    by: Actor = PROGRAM


class RememberRequest(OwnedRequest):
    """Items to remember; the same key with the same items is the same job again."""

    key: Annotated[str, Field(min_length=1, max_length=300)]
    items: Annotated[tuple[JsonValue, ...], Field(max_length=100)]
    agent: Name | None = None
    session: str = ""
    """The session that they come from, if they were extracted from what was said there."""
    turns: tuple[Said, ...] = ()
    """What was said in the session that they come from, for its episodes."""
    policy: Name = DEFAULT_POLICY
    """The write policy that they are checked by."""
    by: Actor = PROGRAM
    asked_at: Instant | None = None
    """When they were offered, so that an erasure since then keeps them out; None: when a worker is asked."""
    recorded: tuple[Instant, ...] = ()
    """When each was said or learned, if they waited: what was erased or forgotten since stays so. Empty: just then."""


class Submitted(Passed):
    """What became of items that were offered."""

    tenant: str
    job: str = ""
    """Their job; empty where there were none."""


class ObserveRequest(OwnedRequest):
    """What was said in a session, in order: memory decides which of it may be believed."""

    session: Name
    said: Annotated[tuple[Said, ...], Field(min_length=1, max_length=100)]
    start: Annotated[int, Field(ge=0)] = 0
    """The place of the first one in the session: for a policy that keeps turns."""
    policy: Name = DEFAULT_POLICY
    """The write policy that decides; ``transcript`` keeps every turn word for word."""
    agent: Name | None = None
    by: Actor = PROGRAM


class NotBelieved(Passed):
    """A statement that is not believed."""

    index: int
    """Its place in what was observed."""
    ground: Ground
    reason: str
    """In words that a person can read; it quotes nothing."""


class Observed(Passed):
    """What memory made of what was said."""

    job: str = ""
    """The job of what may be believed; empty where nothing may."""
    items: int = 0
    """How many items the job has."""
    left: tuple[NotBelieved, ...] = ()


class ForgetRequest(Request):
    """A sweep."""

    dry_run: bool = False
    """Only report what would be forgotten."""
    user_id: str = ""
    """Sweep this user only, whether or not something is due; empty: everybody who has something due."""
    of: OwnerId | None = None
    """Sweep this team or agent, to which the user belongs, instead of the user."""
    approved: bool = False
    """A person has approved the sweep: the guard does not hold anything."""
    at: Instant | None = None
    """The moment of the sweep; None: when it runs."""
    by: Actor = PROGRAM


class SweepReport(Passed):
    """What a sweep did so far, without content."""

    tenants: int = 0
    forgotten: int = 0
    purged: int = 0
    held: tuple[str, ...] = ()
    """Tenants with so much due that a person has to approve it first, at most 20."""
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
    report: SweepReport


class RedateRequest(Request):
    """A pass through all tenants that redates entries dated by other rules."""

    again: bool = False
    """Also if a pass under the same rules has already ended."""
    by: Actor = PROGRAM


class RedateResult(Passed):
    """What a pass of redating did so far, without content."""

    tenants: int = 0
    redated: int = 0
    """Entries that other rules had dated."""
    failed: tuple[str, ...] = ()
    """Tenants that were left to the next pass, at most 20."""


class PromoteRequest(Request):
    """A pass that promotes what is worth keeping of sessions before their episodes expire."""

    by: Actor = PROGRAM


class PromoteResult(Passed):
    """What a pass of promotion did so far, without content."""

    tenants: int = 0
    sessions: int = 0
    episodes: int = 0
    """Episodes that were looked at; memory keeps little of them."""
    jobs: int = 0
    """Jobs that were submitted."""
    failed: tuple[str, ...] = ()
    """Sessions and tenants that were left to a later pass, and what could not be used; at most 20."""


class ConsolidateRequest(Request):
    """A pass that merges memories that say the same."""

    by: Actor = PROGRAM


class ConsolidateResult(Passed):
    """What a pass of consolidation did so far, without content."""

    tenants: int = 0
    merged: int = 0
    """How many pairs were merged."""
    failed: tuple[str, ...] = ()
    """Tenants that were left to a later pass, at most 20."""


class UndoRequest(Request):
    """The undoing of a sweep."""

    sweep: str = ""
    """The sweep's id; empty: the latest one of the user, or of the owner."""
    user_id: str = ""
    """Undo it for this user only."""
    of: OwnerId | None = None
    """Undo it for this team or agent, to which the user belongs, instead of the user."""
    by: Actor = PROGRAM


class UndoResult(Passed):
    """How an undoing ended."""

    sweep: str
    restored: int


class ReconcileRequest(Request):
    """A reconciliation of the stores with each other."""

    user_id: str = ""
    """Of this user only, which repairs no loss of a store; empty: of everybody."""
    of: OwnerId | None = None
    """Of this team or agent, to which the user belongs, instead of the user."""
    by: Actor = PROGRAM


_FAILED_KEPT = 20


class Reconciled(Passed):
    """What a reconciliation found and did, without content."""

    tenants: int = 0
    origins: dict[str, int] = Field(default_factory=dict[str, int])
    """How many entries were found where: in the store (remote), in the journal (local) or in both (merged)."""
    written: int = 0
    """Entries that the store lacked, or had in an earlier state."""
    journaled: int = 0
    """Entries that the journal lacked, or had in an earlier state."""
    purged: int = 0
    """Entries that had been purged, and were back."""
    deletions: int = 0
    """Lines of the deletion log that Redis or the journal lacked."""
    jobs: int = 0
    """Jobs that were started for accepted batches, since Temporal knew none for them."""
    failed: tuple[str, ...] = ()
    """Tenants that could not be reconciled, each with the reason; the first of them."""

    def plus(self, other: "Reconciled") -> "Reconciled":
        """Return the sum of two."""
        return Reconciled(
            tenants=self.tenants + other.tenants,
            origins=dict(Counter(self.origins) + Counter(other.origins)),
            written=self.written + other.written,
            journaled=self.journaled + other.journaled,
            purged=self.purged + other.purged,
            deletions=self.deletions + other.deletions,
            jobs=self.jobs + other.jobs,
            failed=(*self.failed, *other.failed)[:_FAILED_KEPT],
        )


class ReconcileResult(Passed):
    """How a reconciliation ended."""

    losses: tuple[str, ...]
    """The stores that had lost data and are whole again, each with its loss."""
    gone: tuple[str, ...] = ()
    """What could not be rebuilt from the others."""
    found: Reconciled
    late: int = 0
    """Histories that were deleted of what Temporal began only after its user's erasure."""
    late_kept: str = ""
    """Why such histories, if there are any, could not be deleted; the next reconciliation tries again."""


class EraseRequest(OwnedRequest):
    """An erasure of everything that is kept of a user, or of a team or an agent."""

    by: Actor = PROGRAM


class ConsentRequest(OwnedRequest):
    """Consent to purposes, or its withdrawal: by a user or for one, or by a member for an owner."""

    grant: tuple[Purpose, ...] = ()
    withdraw: tuple[Purpose, ...] = ()
    sending: Annotated[str, Field(max_length=200)] = ""
    """Your own id of this sending: the same sent again under it is one statement, whatever was stated since."""
    by: Actor = PROGRAM
    asked_at: Instant | None = None
    """When it was asked first, so that it is not recorded if the user was erased, or said something else, since; None:
    now."""


class Consents(Passed):
    """The resulting consent to each purpose."""

    tenant: str
    granted: dict[str, bool]


class HandleItem(Passed):
    """One thing that was recalled, without its text."""

    id: str
    version: int
    score: float


class RecallHandle(Passed):
    """What was recalled, without any text: it may stay in a history for ever, and what is forgotten meanwhile is gone.

    The texts are read with it, as they are at that moment.
    """

    items: tuple[HandleItem, ...] = ()
    """The best of each kind first."""
    of: OwnerId | None = None
    """The owner from whose memory it was recalled; None: the user's own."""
    degraded: tuple[str, ...] = ()
    """The stores that did not answer; empty when all is well."""
    withheld: tuple[Purpose, ...] = ()
    """What is left out since the user does not consent to it (any more)."""


class Reference(Passed):
    """Where the result of a recall is kept for a few minutes, so that no history holds it."""

    tenant: str
    """Whose memory it is from."""
    id: str
