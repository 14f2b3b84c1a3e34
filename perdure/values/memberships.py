"""Who belongs to a team or an agent, whose memory is shared by its members. Pure values."""

from collections.abc import Iterable

from perdure.errors import UnknownOwner
from perdure.identity import OwnerId, UserId
from perdure.model import Instant, Passed, Request, Stored, TenantId
from perdure.values.changes import PROGRAM, Actor


class Membership(Stored):
    """The latest statement about one user: whether they belong to a team or an agent."""

    member: TenantId
    """The user's own tenant, which finds the membership if only that is known."""
    user_id: str = ""
    """The user's plain id; empty if they do not belong."""
    belongs: bool
    at: Instant
    by: Actor
    order: int = 0
    """The greatest number is the latest statement, whatever machines' clocks say; counted under the owner's lease."""
    operation: str = ""
    """The operation that stated it: once, however often it is tried."""

    def seen_by(self, user: str) -> "Membership":
        """Return the membership as a user may take it away: without the ids of others, and of who stated it."""
        return self.changed(user_id=self.user_id if self.member == user else "", by=self.by.changed(id=""))


class MemberRequest(Request):
    """A request that a user belong to a team or an agent from now on, or no longer."""

    of: OwnerId
    user_id: UserId
    """The member; the one who may make this request is an administrator."""
    belongs: bool
    by: Actor = PROGRAM
    asked_at: Instant | None = None
    """When it was asked, so that an erasure since then keeps the user out; None: when a worker is asked."""


class Enrolment(Passed):
    """What holds of a member afterwards."""

    tenant: str
    """The member's own."""
    belongs: bool


def latest(memberships: Iterable[Membership]) -> dict[str, Membership]:
    """Return the latest statement about each user, by the user's tenant."""
    found: dict[str, Membership] = {}
    for one in memberships:
        if one.member not in found or one.order >= found[one.member].order:
            found[one.member] = one
    return found


def unknown_owner(owner: str) -> UnknownOwner:
    """Return the answer to a user who does not belong to an owner: the same as for an owner that does not exist."""
    fix = "who administers the installation adds members: perdure memories members add"
    return UnknownOwner("of", f"this user belongs to no {owner!r}", fix=fix)
