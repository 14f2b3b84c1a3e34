"""Whose memory a request of a user asks for, as an activity."""

from dataclasses import dataclass

from temporalio import activity

from perdure.identity import OwnerId
from perdure.memory.membership import MemberBook
from perdure.model import Passed
from perdure.names import Activity


class AskedTenantCall(Passed):
    """The input of ``asked_tenant``."""

    user_id: str
    of: OwnerId | None = None
    """The team or agent whose memory is asked for; None: the user's own, for which no store is asked."""


@dataclass(frozen=True, kw_only=True)
class TenantActivities:
    """The activity and what it needs."""

    members: MemberBook

    @activity.defn(name=Activity.ASKED_TENANT)
    async def asked_tenant(self, call: AskedTenantCall) -> str:
        """Return the tenant of the memory that a user asks for; only a worker can, as it has the key.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        return await self.members.tenant(call.user_id, call.of)
