"""The shapes of one asynchronous ingest: batch, plan, outcome, receipt. Pure values."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from perdure.identity import OwnerId, digest
from perdure.model import Instant, Name, OpenEnum, Passed, TenantId
from perdure.names import DEFAULT_POLICY
from perdure.values.changes import PROGRAM, Actor, ActorKind, Refusal
from perdure.values.items import Item
from perdure.values.suspensions import Suspension


class UnusableItem(Passed):
    """Stands in for an item that is not planned, so that its receipt can say why: it was refused, or is held."""

    kind: Literal["unusable"] = "unusable"
    reason: str
    held: bool = False
    """Whether it waits for a person's approval, in a workflow of its own that alone has its text."""


BatchItem = Annotated[Item | UnusableItem, Field(discriminator="kind")]


class Approved(Passed):
    """A person's approval of a memory that was on hold."""

    at: Instant
    doubt: bool
    """Whether the person decided that it replaces what it contradicts, whatever was said before the approval."""
    note: str = ""
    """Why, in the approver's words."""
    reworded: bool = False
    """Whether the approver changed its words, which are then the approver's."""


def named_job(tag: str, *parts: JsonValue) -> str:
    """Return the id of a job: short, as it is what people read and copy. Of 10^11 jobs none are likely to share one.

    Args:
        tag: What kind of job this is, with its version.
        *parts: Its full identity, with whose memory it is for.
    """
    return f"ingest-{digest(tag, *parts)[:24]}"


class SessionNote(Passed):
    """A session in which it is noted what a batch has made memory of."""

    tenant: TenantId
    """Whose session it is: the batch may be for a team's memory, or an agent's."""
    session: str
    since: Instant | None = None
    """When it was said or learned: nothing is noted once the user was erased since. None: when the batch began."""


def _is_none(value: object) -> bool:
    return value is None


class Batch(Passed):
    """Items of one tenant to be remembered together; the unit of a job."""

    tenant: TenantId
    of: OwnerId | None = None
    """The owner whose memory it is for; until it is submitted, ``tenant`` is the asking user's. None: the tenant's."""
    key: Annotated[str, Field(min_length=1, max_length=300)]
    """The caller's own key: the same key with the same items is the same job again."""
    items: Annotated[tuple[BatchItem, ...], Field(min_length=1, max_length=100)]
    stated_by: str = ""
    """In an owner's memory, the user who asks, as ``identity.author_id`` says; empty: it is the user's own memory."""
    task: str = ""
    """The workflow id of the task that asks, if one does."""
    agent: Name | None = None
    session: str = ""
    """The session that its memories were extracted from; empty: they were given."""
    noted_in: SessionNote | None = Field(default=None, exclude_if=_is_none)
    """Where it is noted what is believed of it, once it is: what is on hold or refused is shown of no session."""
    policy: Name = DEFAULT_POLICY
    """The write policy that decides on it."""
    by: Actor | None = None
    """Who asks; None: the task, or an unnamed caller."""
    accepted_at: Instant | None = None
    """When it was accepted; None: unknown, and each item counts as accepted when it was observed."""
    recorded: tuple[Instant, ...] = ()
    """When each item was said or learned, where it waited somewhere before it was offered: what was forgotten since
    then stays forgotten. Empty: when the batch was accepted."""
    epoch: int | None = None
    """The tenant's epoch when the batch was accepted; None: Redis did not answer then, and the first plan sets it."""
    approved: Approved | None = None
    """The approval on which it is planned, so that no policy holds it again; None: it was never on hold."""

    @property
    def began(self) -> Instant | None:
        """When the first of its items was said, learned or accepted, as far as that is known."""
        return min(filter(None, (*self.recorded, self.accepted_at)), default=None)

    @property
    def author(self) -> Actor:
        """Who is named as the author of the changes that the batch makes."""
        asker = Actor(kind=ActorKind.AGENT, id=self.task) if self.task else PROGRAM
        return self.by or asker


class Decision(OpenEnum):
    """What a plan decides for an item. An unknown decision is left to a worker that knows it."""

    INSERT = "insert"
    REINFORCE = "reinforce"
    """It is a duplicate: one more occurrence, and no second memory."""
    SUPERSEDE = "supersede"
    """It replaces another one, which is kept but no longer recalled."""
    HOLD = "hold"
    """A person has to approve it, or to say whether it or what it contradicts holds; until then it is not believed."""
    REJECT = "reject"


class PlannedItem(Passed):
    """The decision on one item, small enough for a workflow's history: no text and no vector."""

    index: Annotated[int, Field(ge=0)]
    """The item's place in its batch."""
    decision: Decision
    target: str = ""
    """The id of the record or memory that will be written; empty when nothing is."""
    over: tuple[str, ...] = ()
    """The ids of the memories that it contradicts and overrides."""
    under: tuple[Suspension, ...] = ()
    """How memories override it until they end that were said later."""
    reason: str = ""


class WritePlan(Passed):
    """The decisions on a whole batch, made at one moment."""

    at: Instant
    items: tuple[PlannedItem, ...]
    expected: dict[str, int]
    """The version that each record or memory which will be written must still have; 0: it must not exist."""
    epoch: int = 0
    """The tenant's epoch that the batch was accepted under."""


class Applied(Passed):
    """What became of a plan."""

    versions: dict[str, int]
    """The version of each record or memory afterwards."""
    plan: WritePlan | None = None
    """The plan that was made again under the lease; None: the given one was followed."""


class Fate(OpenEnum):
    """What became of an item. An unknown fate is shown, and counts as no other."""

    SEARCHABLE = "searchable"
    REJECTED = "rejected"
    HELD = "held"
    """A write policy wants a person to approve it, or it contradicts what is believed: it waits in a hold."""


class ItemReceipt(Passed):
    """What became of one item."""

    index: int
    fate: Fate
    decision: Decision
    id: str = ""
    """The record or memory that now carries it; empty when none does."""
    reason: str = ""
    hold: str = ""
    """For what is held: the id of the hold, by which it is approved or rejected."""


ELSEWHERE = "elsewhere:"
"""What the id of a job begins with that another installation runs: Temporal knows none of that name here."""


class SubmitCall(Passed):
    """The input of ``submit_ingest``."""

    batch: Batch
    user_id: str = ""
    """For whom: the memory of another installation knows nobody by their tenant."""


class WaitIngestCall(Passed):
    """The input of ``wait_ingest``."""

    job: str
    user_id: str = ""
    """For whom the job is, and of which owner's memory: see ``SubmitCall``."""
    of: OwnerId | None = None


class Receipt(Passed):
    """What became of each item of a job."""

    job_id: str
    items: tuple[ItemReceipt, ...]

    def count(self, fate: Fate) -> int:
        """Return how many items met this fate."""
        return sum(item.fate is fate for item in self.items)


class Imported(Passed):
    """What became of an export that was imported."""

    jobs: tuple[str, ...]
    """The jobs that remember what can be taken back."""
    earlier: tuple[str, ...] = ()
    """Those of them that an earlier import of the same export began, and that are not repeated."""
    left_out: dict[str, int]
    """How many lines are not taken back, by what they are and why."""


class SettledJob(Passed):
    """What the journal knows of a job that is done: less than its receipt, but for longer."""

    job: str
    ids: tuple[str, ...] = ()
    """The entries that it changed."""
    refused: tuple[Refusal, ...] = ()
    """Its items that did not become memory, and why."""
