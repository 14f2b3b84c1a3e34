"""Promotion as activities: whose sessions are due, and one tenant's. What they return has no content."""

from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio import activity

from activities.submitting import Submitter
from perdure.changes import Actor
from perdure.memory.promotion.promoter import Promoter
from perdure.model import Passed
from perdure.names import Activity
from perdure.requests import PromoteResult

_PAGE = 100

_NAMED = 20
"""Problems of one tenant that the result names: as many as that of a pass."""


class PromoteCall(Passed):
    """The input of ``promote_sessions``."""

    tenant: str
    by: Actor


@dataclass(frozen=True, kw_only=True)
class PromotionActivities:
    """The activities of promotion and what they need."""

    promoter: Promoter
    submitter: Submitter

    @activity.defn(name=Activity.DUE_SESSIONS)
    async def due(self) -> tuple[str, ...]:
        """Return tenants of which a session may be due, the longest due first."""
        return tuple(await self.promoter.due(datetime.now(UTC), _PAGE))

    @activity.defn(name=Activity.PROMOTE_SESSIONS)
    async def promote(self, call: PromoteCall) -> PromoteResult:
        """Promote what is due of one tenant; a session that fails is named, and left to a later pass."""
        now = datetime.now(UTC)
        done = await self.promoter.promote(call.tenant, now=now, by=call.by, submit=self.submitter.submit)
        failed = tuple(f"{call.tenant} {problem}" for problem in done.failed[:_NAMED])
        return PromoteResult(tenants=1, sessions=done.sessions, episodes=done.episodes, jobs=done.jobs, failed=failed)
