"""A user's erasure as a value: an epoch that nothing accepted before it may cross. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from perdure.base_error import PerdureError
from perdure.errors import TenantErased
from perdure.model import Instant, Passed, Stored, TenantId


class ErasedMeanwhile(PerdureError):
    """Somebody whom a change names was erased after what names them was read: it is read and written anew."""

    code = "PRD306"
    retryable = True


class Erasure(Stored):
    """What each store keeps of an erasure, without content."""

    tenant: TenantId
    epoch: int
    """Grows with every erasure of the user, and once more when everything is removed: nothing that was accepted or read
    under a lower one is written."""
    at: Instant
    """What was accepted before it is not written, and data that an older copy of a store still has is removed again."""
    operation: str
    """The erasure that raised the epoch to this; a repeated request is the same one."""
    removed: bool = False
    """Whether everything was removed: a store's copy that says no may still have what existed when it began."""
    ended: bool = False
    """Whether it was proved: an attempt of one of its steps that comes late removes nothing of who came back."""

    @property
    def order(self) -> tuple[int, bool]:
        """The order of two erasures: the greater is the later."""
        return self.epoch, self.removed

    def follows(self, other: "Erasure | None") -> bool:
        """Return whether this says more than what is known of another erasure, or of an earlier state of this one."""
        return other is None or (*self.order, self.ended) > (*other.order, other.ended)


class ErasureReceipt(Passed):
    """What an erasure removed, and what it cannot reach; without content."""

    tenant: TenantId
    epoch: int
    at: Instant
    entries: int
    """Records, memories and turns that were stored when it began, whatever their state."""
    keys: int
    """Keys that Redis had when it began: episodes, claims, outputs, the deletion log."""
    executions: int
    """Runs of workflows that were deleted, with their histories."""
    proved: bool = False
    """Whether every store was asked afterwards, and has nothing of the user left."""
    earlier: bool = False
    """Whether it is the receipt of an earlier erasure, and nothing was erased when it was requested again."""
    unreachable: tuple[str, ...] = ()
    """What may still hold something of the user, and has to be looked at by a person."""


UNREACHABLE = (
    "histories of your own workflows, with what you gave to them and got from them",
    "histories of sweeps and other requests that were made with the user id, which name it and hold no content",
    "what the user wrote into memories of teams and agents, with a digest of the user's tenant as its "
    "author, and the histories of those requests: it is theirs",
    "what members' tasks recalled from, or wrote to, a team or an agent: it is in those members' sessions and "
    "histories; erase the members to remove it",
    "requests for a team or an agent that were refused, or under way during its erasure: erasing the member who made "
    "them removes these",
    "tasks and requests of the user that were made before and that Temporal begins only after this receipt: they are "
    "refused and write nothing; their histories, with what was given to them, are deleted by the next reconciliation",
    "histories of requests that were refused, or ended before a worker began them, whose input names no user or cannot "
    "be read",
    "Temporal's own histories of deleted schedules, with the inputs of their tasks, until the namespace's "
    "retention ends",
    "archived histories, and other Temporal clusters that replicate this one",
    "backups of Weaviate, Redis, Temporal's database and the journal: what is restored from one is removed again when "
    "a worker starts, as long as one of the stores still knows of the erasure",
    "the audit: who wrote, changed or read which memory by its id, when and why, under tenants and without content",
    "episodes that wait in the spool of another machine: its worker drops them once it reaches Redis; where it never "
    "runs again, remove the folder 'spool' of its data folder",
    "what tasks still store that began while Redis was away, where a tool of theirs is under way: erase again",
    "the digest of tenant and task id, without content, by which a skill's version counts its tasks: it is kept for up "
    "to 366 days after the last task with that version",
    "digests, without content, of requests to the HTTP service with an idempotency key: they are kept for a day",
    "traces and logs, where content was switched on in them",
    "what tools did elsewhere",
)
"""What no erasure can reach."""

TAKEN_OVER = (
    "what another erasure of the user removes, which has begun since this one was asked for: its receipt has the proof"
)
"""What an erasure leaves to a later one."""


def is_under_way(erasure: Erasure | None) -> bool:
    """Return whether a user is being erased: what is read of them now may be gone in a moment."""
    return erasure is not None and not erasure.removed


def require_unchanged(known: Mapping[str, Erasure], now: Mapping[str, Erasure], tenants: Iterable[str]) -> None:
    """Check that what was read of users before is still theirs.

    Args:
        known: The erasures that were known when it was read.
        now: Those that are known now.
        tenants: The users.

    Raises:
        ErasedMeanwhile: One of them was erased since, or is being erased: read it again.
    """
    for tenant in tenants:
        before, after = known.get(tenant), now.get(tenant)
        if (before and before.order) != (after and after.order) or is_under_way(after):
            raise ErasedMeanwhile("somebody whom it names was erased after it was read")


def require_none_since(asked_at: datetime, erasures: Iterable[Erasure | None]) -> None:
    """Check that nobody was erased at a moment or later.

    Args:
        asked_at: When the request was made.
        erasures: The latest erasure of each user concerned; None: they were not erased.

    Raises:
        TenantErased: One of them was erased.
    """
    if any(one is not None and asked_at <= one.at for one in erasures):
        raise TenantErased(
            "the user, or whose memory it is, was erased after this was asked: ask again if it is still wanted"
        )


def highest(found: Iterable[Erasure]) -> dict[str, Erasure]:
    """Return the latest erasure of each user, from what several stores know."""
    latest: dict[str, Erasure] = {}
    for one in found:
        if one.follows(latest.get(one.tenant)):
            latest[one.tenant] = one
    return latest
