"""Making the stores agree again after one of them lost data. Activities decide what is missing."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.reconciliation import (
    EndReconcilingCall,
    FoundLosses,
    LostData,
    ReconciliationActivities,
    TenantsCall,
    TenantsDone,
)
from perdure.errors import StoreLost
from perdure.history import History
from perdure.names import REPORT, Activity, Workflow
from perdure.temporal.errors import failure_of
from perdure.values.losses import LossKind, Store
from perdure.values.requests import Reconciled, ReconcileRequest, ReconcileResult
from workflows import options
from workflows.carried import Carried, chain
from workflows.failures import asked, problem_of

_GONE = {
    (Store.REDIS, LossKind.LOST): "episodes of sessions, and claims on effects: what may have happened is asked",
    (Store.REDIS, LossKind.OLDER): "newer episodes, and newer claims on effects: what may have happened is asked",
    (Store.JOURNAL, LossKind.LOST): "who changed what and why until now, and what was accepted whose job had not begun",
    (Store.JOURNAL, LossKind.OLDER): "who changed what and why since, and what was accepted whose job had not begun",
}
"""What the other stores do not have."""

AGAIN_FIRST, AGAIN = timedelta(seconds=5), timedelta(minutes=1)
"""After how long tenants that could not be reconciled are tried again, where a store lost data: at first, since a lease
that another writer holds is soon free, and at most, as it doubles. A choice."""

_FAILED_AT_MOST = 1000
"""Tenants that are tried again by their names; if there are more, all are. A choice: they fit into one message."""


class Reconciling(Carried):
    """How far a reconciliation has come when its history is rolled over."""

    losses: tuple[LostData, ...]
    after: str
    found: Reconciled
    operation: str
    only: tuple[str, ...] = ()
    """The tenants of this pass; empty: all."""
    failed: tuple[str, ...] | None = None
    """Those of them that failed so far; None: not known."""


class ReconcileRun(ReconcileRequest):
    """The input of one run of ``ReconcileMemory``: what was asked, and what a rolled over run carries."""

    carried: Reconciling | None = None


@workflow.defn(name=Workflow.RECONCILE_MEMORY, sandboxed=False)
class ReconcileMemory:
    """Merges store, journal and deletion log, tenant by tenant, and records that lost data is restored."""

    @workflow.init
    def __init__(self, request: ReconcileRun | None = None) -> None:
        self._found = request.carried.found if request and request.carried else Reconciled()
        self._history = History(0)

    @workflow.run
    async def run(self, request: ReconcileRun | None = None) -> ReconcileResult:
        """Reconcile until a pass has gone through everybody."""
        request = asked(request, "give a ReconcileRequest, {} for the usual one")
        is_of_one = bool(request.user_id or request.of)
        if request.carried:
            losses, after, operation = request.carried.losses, request.carried.after, request.carried.operation
            only, failed = request.carried.only, request.carried.failed
        else:
            losses, after, only, failed = await self._begin(), "", (), ()
            operation = f"reconcile:{workflow.info().workflow_id}:{chain()}"
        wait = AGAIN_FIRST
        while True:
            call = TenantsCall(
                after=after,
                user_id=request.user_id,
                of=request.of,
                operation=operation,
                by=request.by,
                losses=losses,
                only=only,
            )
            done: TenantsDone = await options.long(ReconciliationActivities.tenants, call, "Merge what is remembered")
            self._history.grow()
            after, over, retried = done.after, done.over, ()
            self._found = self._found.plus(done.found)
            if done.found.failed:
                failed = None if failed is None or done.failed is None else (*failed, *done.failed)
            told = "".join(f"\n\nFailed: {one}" for one in self._found.failed)
            workflow.set_current_details(f"**{self._found.tenants}** tenants reconciled{told}")
            if not done.more:
                if is_of_one or not losses:
                    break
                if self._found.failed:
                    # Until every tenant's share is rebuilt, the store accepts nothing: its marks say that it lost data,
                    # and cannot say whose.
                    await workflow.sleep(wait, summary="until those that failed are tried again")
                    over, retried, wait = True, failed or (), min(2 * wait, AGAIN)
                else:
                    ending = EndReconcilingCall(losses=losses)
                    summary = "Record that the losses are made good"
                    over = not await options.change(ReconciliationActivities.end, ending, summary)
                if not over:
                    break
            if over:
                begun = await self._begin()
                only = _only(retried, losses, begun)
                losses, after, failed = begun, "", ()
                self._found = self._found.changed(failed=(), tenants=self._found.tenants - len(only))
            if self._history.is_due:
                carried = Reconciling(
                    chain=chain(),
                    losses=losses,
                    after=after,
                    found=self._found,
                    operation=operation,
                    only=only,
                    failed=failed,
                )
                workflow.continue_as_new(request.changed(carried=carried))
        late, kept = (0, "") if is_of_one else await self._delete_late()
        return ReconcileResult(
            losses=tuple(f"{one.store}: {one.kind.told}" for one in losses if not is_of_one),
            gone=tuple(_GONE[one.store, one.kind] for one in losses if (one.store, one.kind) in _GONE),
            found=self._found,
            late=late,
            late_kept=kept,
        )

    async def _delete_late(self) -> tuple[int, str]:
        """Delete what Temporal began after its user's erasure; return how many runs, or why they are still there."""
        summary = "Delete histories that began after their user's erasure"
        try:
            deleted = await workflow.execute_activity(
                Activity.DELETE_LATE_RUNS, result_type=int, summary=summary, **options.of_late_runs()
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return 0, problem_of(error)
        return deleted, ""

    async def _begin(self) -> tuple[LostData, ...]:
        """Find what was lost.

        Raises:
            ApplicationError: The journal was lost, which only a person may start again.
        """
        self._history.grow()
        found = await workflow.execute_activity(
            Activity.BEGIN_RECONCILING,
            result_type=FoundLosses,
            summary="Compare what the stores say of themselves",
            **options.of_ingest(),
        )
        for one in found.losses:
            if (one.store, one.kind) == (Store.JOURNAL, LossKind.LOST):
                problem = "all of it was lost: mount or restore its folder, or begin it anew with --new-journal"
                raise failure_of(StoreLost(one.store, problem))
        return found.losses

    @workflow.query(name=REPORT)
    def report(self) -> Reconciled:
        """What was found and done so far."""
        return self._found


def _only(failed: tuple[str, ...], before: tuple[LostData, ...], now: tuple[LostData, ...]) -> tuple[str, ...]:
    """Return the tenants that the next pass goes through; empty: all.

    The others keep what the last pass rebuilt of them, unless more was lost since: then a store's token is another one.
    A journal has none.
    """
    kept = before == now and all(one.token for one in now)
    return failed if kept and len(failed) <= _FAILED_AT_MOST else ()
