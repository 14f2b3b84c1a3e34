"""Who belongs to a team or an agent, whose memory is shared by its members. Pure values."""

from collections.abc import Iterable

from perdure.changes import Actor
from perdure.errors import UnknownOwner
from perdure.identity import OwnerId, UserId
from perdure.model import Instant, Passed, Request, Stored, TenantId
from perdure.requests import SOMEBODY


class Membership(Stored):
    """What was said last of one user: whether they belong to a team or an agent."""

    member: TenantId
    """The user's own tenant, which finds the membership where only that is known."""
    user_id: str = ""
    """The user, as people know them; empty where they do not belong."""
    belongs: bool
    at: Instant
    by: Actor
    order: int = 0
    """The greatest tells what was said last, whatever the clocks of machines say; counted under the owner's lease."""
    operation: str = ""
    """The operation that said it: once, however often it is tried."""


class MemberRequest(Request):
    """That a user belongs to a team or an agent from now on, or no longer does."""

    of: OwnerId
    user_id: UserId
    """The member; whoever may ask for this administers the installation."""
    belongs: bool
    by: Actor = SOMEBODY
    asked_at: Instant | None = None
    """When it was asked, so that an erasure since then keeps the user out; None: when a worker is asked."""


class Enrolment(Passed):
    """What holds of a member afterwards."""

    tenant: str
    """The member's own."""
    belongs: bool


def latest(memberships: Iterable[Membership]) -> dict[str, Membership]:
    """Return what was said last of each user, by the user's tenant."""
    found: dict[str, Membership] = {}
    for one in memberships:
        if one.member not in found or one.order >= found[one.member].order:
            found[one.member] = one
    return found


def unknown_owner(owner: str) -> UnknownOwner:
    """Return the answer to a user who does not belong to an owner, which is the one where there is no such owner."""
    fix = "who administers the installation adds members: perdure memories members add"
    return UnknownOwner("of", f"this user belongs to no {owner!r}", fix=fix)
