"""Forgetting as activities: each is a repeatable step of one tenant's sweep."""

from dataclasses import dataclass

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import InvalidInput
from perdure.identity import OwnerId
from perdure.memory.forgetting.forgetter import Forgetter, Restored, Tombstoned
from perdure.memory.forgetting.selection import Forgetting
from perdure.memory.forgetting.uses import Uses
from perdure.memory.membership import MemberBook
from perdure.memory.wholeness import Wholeness
from perdure.model import Instant, Passed
from perdure.names import Activity
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.sweeps import SweepTurn
from perdure.temporal.errors import of_call
from perdure.temporal.failures import pause, still_running
from perdure.values.changes import Actor

PAGE = 100
"""Tenants that are looked up at a time."""


class BeginSweepCall(Passed):
    """The input of ``begin_sweep``."""

    sweep: str
    """The id of the workflow that sweeps."""


class DueCall(Passed):
    """The input of ``due_tenants``."""

    now: Instant
    after: str = ""
    """The cursor: the last tenant that was handled."""


class DueTenants(Passed):
    """The output of ``due_tenants``."""

    tenants: tuple[str, ...]
    """The next tenants with something due; empty: there are no more."""


class SelectCall(Passed):
    """The input of ``select_forgetting``."""

    tenant: str
    now: Instant
    approved: bool
    dry_run: bool = False
    """Whether nothing is written: uses that wait are not looked at either."""


class ForgetCall(Passed):
    """The input of ``tombstone`` and ``purge``."""

    forgetting: Forgetting
    sweep: str
    by: Actor


class FinishCall(Passed):
    """The input of ``finish_forgetting``."""

    tenant: str


class FindUndoCall(Passed):
    """The input of ``find_undo``."""

    sweep: str
    """The sweep to be undone; empty: the latest one of the user, or of the owner."""
    user_id: str = ""
    """Undo it for this user only."""
    of: OwnerId | None = None
    """Undo it for this team or agent, to which the user belongs, instead of for the user."""
    after: str = ""
    """The cursor: the last tenant that was handled."""


class RestoreCall(Passed):
    """The input of ``restore``."""

    tenant: str
    sweep: str
    now: Instant
    """When the undoing began."""
    by: Actor


class Undoable(Passed):
    """Which sweep is undone, and for which tenants next: the output of ``find_undo``."""

    sweep: str
    tenants: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ForgettingActivities:
    """The forgetting activities and what they need."""

    client: Client
    forgetter: Forgetter
    uses: Uses
    whole: Wholeness
    turn: SweepTurn
    due: DueIndex
    deletions: Deletions
    members: MemberBook

    @activity.defn(name=Activity.BEGIN_SWEEP)
    async def begin_sweep(self, call: BeginSweepCall) -> None:
        """Take over from a sweep that has ended; while it still runs, this is retried."""
        while (holder := await self.turn.holder()) != call.sweep:
            if holder and await self._runs(holder):
                raise still_running(f"the sweep {holder}", again_after=pause())
            await self.turn.take(call.sweep, after=holder)

    async def _runs(self, workflow: str) -> bool:
        try:
            found = await self.client.get_workflow_handle(workflow).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise of_call(error) from error
        return found.status is WorkflowExecutionStatus.RUNNING

    @activity.defn(name=Activity.DUE_TENANTS)
    async def due_tenants(self, request: DueCall) -> DueTenants:
        """Return the next tenants with something due; fails while Redis has lost the dates."""
        await self.whole.require()
        tenants = await self.due.tenants(now=request.now, after=request.after, limit=PAGE)
        return DueTenants(tenants=tuple(tenants))

    @activity.defn(name=Activity.SELECT_FORGETTING)
    async def select(self, request: SelectCall) -> Forgetting:
        """Choose which of one tenant's entries are forgotten, their uses counted first; forgets nothing.

        Uses wait for the schedule that writes them, which may be paused: what is used every day must not die of age.
        """
        if not request.dry_run:
            await self.uses.write(request.tenant)
        return await self.forgetter.plan(request.tenant, at=request.now, approved=request.approved)

    @activity.defn(name=Activity.TOMBSTONE)
    async def tombstone(self, request: ForgetCall) -> Tombstoned:
        """Forget the chosen entries; this can be undone."""
        return await self.forgetter.tombstone(request.forgetting, sweep=request.sweep, by=request.by)

    @activity.defn(name=Activity.PURGE)
    async def purge(self, request: ForgetCall) -> int:
        """Remove for good the entries that were forgotten long enough ago; return how many."""
        return await self.forgetter.purge(request.forgetting, sweep=request.sweep, by=request.by)

    @activity.defn(name=Activity.FINISH_FORGETTING)
    async def finish(self, call: FinishCall) -> None:
        """Set the tenant's next due date."""
        await self.forgetter.finish(call.tenant)

    @activity.defn(name=Activity.FIND_UNDO)
    async def find_undo(self, undo: FindUndoCall) -> Undoable:
        """Find which sweep is undone, and for which tenants next.

        Raises:
            InvalidInput: Of the user or owner, nothing was forgotten that can still be undone.
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        await self.whole.require()
        if not (undo.user_id or undo.of):
            tenants = await self.deletions.tenants_of(undo.sweep, after=undo.after, limit=PAGE)
            return Undoable(sweep=undo.sweep, tenants=tuple(tenants))
        tenant = await self.members.tenant(undo.user_id, undo.of)
        if tenant == undo.after:
            return Undoable(sweep=undo.sweep, tenants=())
        open_lines = [line for line in await self.deletions.all(tenant) if not line.purged and not line.restored_at]
        sweep = undo.sweep or (open_lines[-1].sweep if open_lines else "")
        if not sweep:
            raise InvalidInput("user", "nothing was forgotten of this user that can still be undone")
        return Undoable(sweep=sweep, tenants=(tenant,))

    @activity.defn(name=Activity.RESTORE)
    async def restore(self, request: RestoreCall) -> Restored:
        """Undo what a sweep forgot of one tenant, as much as one call takes; not while Redis has lost what that was."""
        await self.whole.require()
        return await self.forgetter.restore(request.tenant, sweep=request.sweep, at=request.now, by=request.by)
