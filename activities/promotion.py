"""Promotion as activities: list the tenants with due sessions, and promote one tenant's. Results have no content."""

from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio import activity

from activities.submissions import Submitter
from perdure.memory.promotion.promoter import Promoter
from perdure.model import Passed
from perdure.names import Activity
from perdure.values.changes import Actor
from perdure.values.jobs import Batch
from perdure.values.requests import PromoteResult

_PAGE = 100

_NAMED = 20
"""Problems of one tenant that the result names: as many as the result of a pass does."""


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
        """Return tenants with a session that may be due, the longest due first."""
        return tuple(await self.promoter.due(datetime.now(UTC), _PAGE))

    @activity.defn(name=Activity.PROMOTE_SESSIONS)
    async def promote(self, call: PromoteCall) -> PromoteResult:
        """Promote one tenant's due sessions; one that fails is named, and left to a later pass."""
        now, epoch = datetime.now(UTC), await self.submitter.leases.epoch(call.tenant)

        async def submit(batch: Batch, job: str) -> Batch:
            # What was read before the user was erased is not written.
            return await self.submitter.submit(batch.changed(epoch=epoch), job)

        done = await self.promoter.promote(call.tenant, now=now, by=call.by, submit=submit)
        failed = tuple(f"{call.tenant} {problem}" for problem in done.failed[:_NAMED])
        return PromoteResult(tenants=1, sessions=done.sessions, episodes=done.episodes, jobs=done.jobs, failed=failed)
