"""Memories on hold as activities: whether a person may still be asked, and what follows from the answer."""

from contextlib import suppress
from dataclasses import dataclass

from temporalio import activity

from activities.jobs import job_id
from activities.submissions import Submitter
from perdure.crashpoints import CrashPoint, reached
from perdure.errors import TenantErased
from perdure.memory.door import Door
from perdure.memory.extraction.screening import screen
from perdure.memory.extraction.statements import restated
from perdure.model import Passed, TenantId
from perdure.names import Activity
from perdure.tolerance import changed_back
from perdure.values.changes import Refusal
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch


class RejectCall(Passed):
    """The input of ``reject_held``."""

    tenant: TenantId
    epoch: int | None = None
    """The user's epoch when what is on hold was accepted."""
    hold: str
    reason: str
    """Who or what rejects it, and why it was on hold."""
    note: str = ""
    """Why, in the words of the one who rejects it."""


@dataclass(frozen=True, kw_only=True)
class HoldActivities:
    """The activities of a memory on hold and what they need."""

    submitter: Submitter
    door: Door

    @activity.defn(name=Activity.CHECK_HOLD)
    async def check(self, batch: Batch) -> int:
        """Return the user's epoch when a memory on hold was accepted, under which it has to be written.

        Raises:
            TenantErased: The user was erased since.
        """
        epoch = await self.submitter.writer.epoch(batch)
        if epoch < await self.door.epoch(batch.tenant):
            raise TenantErased("the user was erased after this was accepted")
        return epoch

    @activity.defn(name=Activity.APPROVE_HELD)
    async def approve(self, batch: Batch) -> str:
        """Submit what was approved as a job of its own; returns the job's id. Consent is looked at once more.

        Raises:
            InvalidInput: There is no such write policy any more.
        """
        reached(CrashPoint.HOLD_APPROVED)
        if batch.approved and batch.approved.reworded:
            at = batch.approved.at
            items = tuple(restated(item, at) if isinstance(item, MemoryItem) else item for item in batch.items)
            batch = changed_back(batch, items=items)
        if batch.approved:
            batch = batch.changed(approved=batch.approved.changed(note=screen(batch.approved.note).text))
        await self.submitter.submit(batch, job_id(batch))
        return job_id(batch)

    @activity.defn(name=Activity.REJECT_HELD)
    async def reject(self, call: RejectCall) -> str:
        """Record that something on hold was rejected, without its text; returns why."""
        reason = f"{call.reason}: {screen(call.note).text}" if call.note else call.reason
        # Who was erased since has no journal that it could be recorded in.
        with suppress(TenantErased):
            await self.door.refuse(call.tenant, call.hold, [Refusal(index=0, reason=reason)], epoch=call.epoch)
        return reason
