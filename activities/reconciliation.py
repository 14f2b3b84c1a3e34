"""Reconciling as activities: compare the stores, merge each tenant's share, and record the losses as repaired."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from pydantic import ValidationError
from temporalio import activity

from activities.submissions import Submitter
from perdure.errors import EntryUnreadable, PerdureError
from perdure.identity import OwnerId
from perdure.memory.erasure.eraser import Eraser
from perdure.memory.membership import MemberBook
from perdure.memory.reconciliation.reconciler import Reconciler
from perdure.memory.wholeness import Wholeness
from perdure.model import Passed
from perdure.names import Activity
from perdure.stores.journal.log import Journal
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.changes import Actor
from perdure.values.losses import Loss, LossKind, Store
from perdure.values.requests import Reconciled

_log = structlog.get_logger(__name__)

SECONDS = 20.0
"""After how many a call of ``reconcile_tenants`` returns, so that a retry repeats little."""


class LostData(Passed):
    """A store that lost data."""

    store: Store
    kind: LossKind
    token: str = ""
    """The mark that the store carries while it is rebuilt; a further loss removes it."""


class FoundLosses(Passed):
    """The output of ``begin_reconciling``."""

    losses: tuple[LostData, ...]


class EndReconcilingCall(Passed):
    """The input of ``end_reconciling``."""

    losses: tuple[LostData, ...]
    """The losses that were repaired."""


class TenantsCall(Passed):
    """The input of ``reconcile_tenants``."""

    after: str
    """The cursor: the last tenant that was reconciled."""
    user_id: str = ""
    """Of this user only."""
    of: OwnerId | None = None
    """Of this team or agent, to which the user belongs, instead of the user."""
    operation: str
    by: Actor
    losses: tuple[LostData, ...] = ()
    """The losses that are being repaired."""
    only: tuple[str, ...] = ()
    """The tenants that failed before, while the others were rebuilt; empty: all."""


class TenantsDone(Passed):
    """How far a reconciliation has come."""

    after: str
    more: bool
    found: Reconciled
    failed: tuple[str, ...] | None = None
    """The tenants that could not be reconciled; None: an older build did not say which."""
    over: bool = False
    """Whether more was lost meanwhile, so that it has to start again."""


@dataclass(frozen=True, kw_only=True)
class ReconciliationActivities:
    """The activities of a reconciliation and what they need."""

    whole: Wholeness
    reconciler: Reconciler
    eraser: Eraser
    longterm: LongTerm
    journal: Journal
    members: MemberBook
    submitter: Submitter

    @activity.defn(name=Activity.BEGIN_RECONCILING)
    async def begin(self) -> FoundLosses:
        """Find what was lost, and make the collections that are missing."""
        found = await self.whole.examine()
        if Loss(Store.JOURNAL, LossKind.LOST) in found:
            return FoundLosses(losses=(LostData(store=Store.JOURNAL, kind=LossKind.LOST),))
        await self.longterm.prepare()
        # Data of erased users that an older copy has brought back is not merged.
        await self.eraser.apply()
        tokens = await self.whole.rebuilding(found)
        return FoundLosses(
            losses=tuple(LostData(store=loss.store, kind=loss.kind, token=tokens.get(loss.store, "")) for loss in found)
        )

    @activity.defn(name=Activity.RECONCILE_TENANTS)
    async def tenants(self, call: TenantsCall) -> TenantsDone:
        """Reconcile the next tenants.

        Raises:
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
        """
        began, found, after = time.monotonic(), Reconciled(), call.after
        if set(await self.whole.examine()) - {Loss(one.store, one.kind) for one in call.losses}:
            return TenantsDone(after="", more=True, found=found, over=True)
        waiting = [tenant for tenant in await self._tenants(call) if tenant > call.after]
        failed: list[str] = []
        for done, tenant in enumerate(waiting, 1):
            one = await self._reconciled(tenant, call)
            found, after = found.plus(one), tenant
            failed += [tenant] if one.failed else []
            if time.monotonic() - began > SECONDS:
                return TenantsDone(after=after, more=done < len(waiting), found=found, failed=tuple(failed))
        return TenantsDone(after=after, more=False, found=found, failed=tuple(failed))

    async def _reconciled(self, tenant: str, call: TenantsCall) -> Reconciled:
        """Reconcile one tenant; if that fails, the others do not wait."""
        anew = any(one.store is Store.REDIS for one in call.losses)
        try:
            found, pending = await self.reconciler.reconcile(tenant, operation=call.operation, by=call.by, check=anew)
        except (PerdureError, ValidationError) as problem:
            if call.user_id and not isinstance(problem, EntryUnreadable):
                raise
            # If a store is away, everybody waits for it.
            await self.whole.examine()
            # What is in a line that no build can read stays out of the report.
            told = problem if isinstance(problem, PerdureError) else "this build cannot read what Redis has of it"
            return Reconciled(tenants=1, failed=(f"{tenant}: {told}",))
        try:
            return found.changed(jobs=await self.submitter.resume(tenant, pending, now=datetime.now(UTC)))
        except PerdureError as problem:
            # The losses are repaired all the same, and the next reconciliation tries this tenant again.
            _log.warning("jobs not started", tenant=tenant, problem=str(problem))
            return found

    @activity.defn(name=Activity.END_RECONCILING)
    async def end(self, call: EndReconcilingCall) -> bool:
        """Record that the losses are repaired; False if more was lost meanwhile."""
        tokens = {one.store: one.token for one in call.losses if one.token}
        return await self.whole.rebuilt([Loss(one.store, one.kind) for one in call.losses], tokens)

    async def _tenants(self, call: TenantsCall) -> list[str]:
        if call.user_id or call.of:
            return [await self.members.tenant(call.user_id, call.of)]
        journaled, stored = await together(self.journal.tenants(), self.longterm.tenants())
        return sorted(one for one in {*journaled, *stored} if not call.only or one in call.only)
