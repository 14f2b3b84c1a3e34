"""Reconciling as activities: the stores are compared, each tenant's share is merged, the losses are made good."""

import time
from dataclasses import dataclass

from temporalio import activity

from perdure.changes import Actor
from perdure.losses import Loss, LossKind, Store
from perdure.memory.reconciling.reconciler import Reconciler
from perdure.memory.wholeness import Wholeness
from perdure.model import Passed
from perdure.names import Activity
from perdure.requests import Reconciled
from perdure.stores.journal.log import Journal
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together

SECONDS = 20.0
"""After how many a call of ``reconcile_tenants`` returns, so that a retry repeats little."""


class LostData(Passed):
    """A store that lost data."""

    store: Store
    kind: LossKind


class TenantsCall(Passed):
    """The input of ``reconcile_tenants``."""

    after: str
    """The cursor: the last tenant that was reconciled."""
    user_id: str = ""
    """Of this user only."""
    operation: str
    by: Actor


class TenantsDone(Passed):
    """How far a reconciliation has come."""

    after: str
    more: bool
    found: Reconciled


@dataclass(frozen=True, kw_only=True)
class ReconcilingActivities:
    """The activities of a reconciliation and what they need."""

    whole: Wholeness
    reconciler: Reconciler
    longterm: LongTerm
    journal: Journal
    tenant_key: TenantKey

    @activity.defn(name=Activity.BEGIN_RECONCILING)
    async def begin(self) -> list[LostData]:
        """Find what was lost, and make the collections that are missing."""
        found = await self.whole.examine()
        if not any(loss.store is Store.JOURNAL and loss.kind is LossKind.LOST for loss in found):
            await self.longterm.prepare()
        return [LostData(store=loss.store, kind=loss.kind) for loss in found]

    @activity.defn(name=Activity.RECONCILE_TENANTS)
    async def tenants(self, call: TenantsCall) -> TenantsDone:
        """Reconcile the next tenants."""
        began, found, after = time.monotonic(), Reconciled(), call.after
        waiting = [tenant for tenant in await self._tenants(call.user_id) if tenant > call.after]
        for done, tenant in enumerate(waiting, 1):
            found = found.plus(await self.reconciler.reconcile(tenant, operation=call.operation, by=call.by))
            after = tenant
            if time.monotonic() - began > SECONDS:
                return TenantsDone(after=after, more=done < len(waiting), found=found)
        return TenantsDone(after=after, more=False, found=found)

    @activity.defn(name=Activity.END_RECONCILING)
    async def end(self, found: list[LostData]) -> None:
        """Record that the losses are made good."""
        await self.whole.rebuilt(Loss(one.store, one.kind) for one in found)

    async def _tenants(self, user_id: str) -> list[str]:
        if user_id:
            return [self.tenant_key.tenant_of(user_id)]
        journaled, stored = await together(self.journal.tenants(), self.longterm.tenants())
        return sorted({*journaled, *stored})
