"""The scheduled sweep that forgets memories. Which ones is decided by pure rules, in activities."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field
from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.forgetting import (
    BeginSweepCall,
    DueCall,
    FinishCall,
    ForgetCall,
    ForgettingActivities,
    SelectCall,
)
from activities.tenants import AskedTenantCall, TenantActivities
from perdure.history import History
from perdure.memory.forgetting.forgetter import Tombstoned
from perdure.memory.forgetting.selection import DueEntry, Forgetting
from perdure.model import Instant
from perdure.names import REPORT, Workflow
from perdure.plurals import counted
from perdure.temporal.attributes import TENANT
from perdure.values.changes import Actor
from perdure.values.requests import ForgetRequest, ForgetResult, SweepReport
from workflows import options
from workflows.carried import Carried, chain
from workflows.failures import asked, is_conflict, problem_of

_KEPT = 20
"""Lines of detail in the result; the counts are whole."""


class Sweep(Carried):
    """How far a sweep has come when its history is rolled over."""

    now: Instant
    after: str
    """The cursor: the last tenant that is finished."""
    report: SweepReport
    idle: int = 0
    """Plans in a row after which none of the current tenant's entries has left the due set."""


class ForgetRun(ForgetRequest):
    """The input of one run of ``ForgetMemory``: what was asked, and what a rolled over sweep carries."""

    carried: Sweep | None = None
    continue_after: Annotated[int, Field(ge=0)] = 0
    """Events after which the sweep continues as new; 0: after about 1,000."""


@workflow.defn(name=Workflow.FORGET_MEMORY, sandboxed=False)
class ForgetMemory:
    """Sweeps the tenants that have something due, one after the other."""

    @workflow.init
    def __init__(self, request: ForgetRun | None = None) -> None:
        carried = request.carried if request else None
        self._report = carried.report if carried else SweepReport()
        self._idle = carried.idle if carried else 0
        self._history = History(request.continue_after if request else 0)

    @workflow.run
    async def run(self, request: ForgetRun | None = None) -> ForgetResult:
        """Run the sweep, once the one before it has ended; it waits for no person."""
        request = asked(request, "give a ForgetRequest, {} for the usual one")
        begun = request.carried or Sweep(chain=chain(), now=request.at or workflow.now(), after="", report=self._report)
        # By its first run's id, the sweep is undone.
        now, after, sweep = begun.now, begun.after, begun.chain
        if not (request.carried or request.dry_run):
            workflow.set_current_details("waiting until no other sweep runs")
            call = BeginSweepCall(sweep=workflow.info().workflow_id)
            await options.change(ForgettingActivities.begin_sweep, call, "Wait until no other sweep runs")
        while tenants := await self._tenants(request, now, after):
            for tenant in tenants:
                finished = False
                while not finished:
                    finished = await self._sweep(tenant, request, now, sweep)
                    after = tenant if finished else after
                    if self._history.is_due:
                        carried = begun.changed(after=after, report=self._report, idle=self._idle)
                        workflow.continue_as_new(request.changed(carried=carried))
        return ForgetResult(sweep=sweep, dry_run=request.dry_run, report=self._report)

    @workflow.query(name=REPORT)
    def report(self) -> SweepReport:
        """What the sweep did so far."""
        return self._report

    async def _tenants(self, request: ForgetRun, now: Instant, after: str) -> tuple[str, ...]:
        if request.user_id or request.of:
            if after:
                return ()
            asking = AskedTenantCall(user_id=request.user_id, of=request.of)
            tenant = await options.change(TenantActivities.asked_tenant, asking, "Find whose memory is asked for")
            workflow.upsert_search_attributes([TENANT.value_set(tenant)])
            return (tenant,)
        call = DueCall(now=now, after=after)
        return (await options.change(ForgettingActivities.due_tenants, call, "Find who has something due")).tenants

    async def _sweep(self, tenant: str, request: ForgetRun, now: Instant, sweep: str) -> bool:
        """Forget as much of a tenant as one plan takes; return whether the sweep is done with the tenant."""
        finished = moved = False
        try:
            finished, moved = await self._plan_and_forget(tenant, request, now, sweep)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if not is_conflict(error):
                return self._given_up(tenant, problem_of(error))
        self._idle = 0 if finished or moved else self._idle + 1
        return finished or (self._idle >= options.IDLE_PLANS and self._given_up(tenant, "it changes all the time"))

    async def _plan_and_forget(self, tenant: str, request: ForgetRun, now: Instant, sweep: str) -> tuple[bool, bool]:
        """Forget as much of a tenant as one plan takes; return whether that was everything, and whether it was any."""
        self._history.grow(5)
        call = SelectCall(tenant=tenant, now=now, approved=request.approved, dry_run=request.dry_run)
        chosen = await options.sweep(ForgettingActivities.select, call, "Choose what to forget")
        if request.dry_run:
            planned = Counter({} if chosen.held else chosen.due)
            self._note(chosen, reasons=planned, forgotten=planned.total(), purged=chosen.purgeable, finished=True)
            return True, True
        tombstoned, purged = await self._forget(chosen, sweep, request.by)
        finished = not chosen.more or bool(chosen.held and not chosen.purge and not chosen.backdated)
        if finished:
            await options.sweep(ForgettingActivities.finish, FinishCall(tenant=tenant), "Set the next due date")
        self._note(chosen, purged=purged, finished=finished)
        return finished, bool(tombstoned.forgotten or tombstoned.kept or purged)

    async def _forget(self, chosen: Forgetting, sweep: str, by: Actor) -> tuple[Tombstoned, int]:
        tombstone = chosen.changed(tombstone=_forgotten(chosen))
        call = ForgetCall(forgetting=tombstone, sweep=sweep, by=by)
        summary = f"Forget {counted(len(tombstone.tombstone), 'entry')}"
        tombstoned = await options.sweep(ForgettingActivities.tombstone, call, summary)
        # What was forgotten is reported even if a later step fails.
        reasons = Counter(item.reason for item in tombstone.tombstone)
        self._note(chosen, reasons=reasons, forgotten=tombstoned.forgotten)
        call = ForgetCall(forgetting=chosen, sweep=sweep, by=by)
        return tombstoned, await options.sweep(
            ForgettingActivities.purge, call, f"Purge {counted(len(chosen.purge), 'entry')}"
        )

    def _given_up(self, tenant: str, reason: str) -> bool:
        self._idle = 0
        failed = (*self._report.failed, f"{tenant}: {reason}")[:_KEPT]
        self._report = self._report.changed(failed=failed)
        return True

    def _note(
        self,
        chosen: Forgetting,
        *,
        reasons: Mapping[str, int] | None = None,
        forgotten: int = 0,
        purged: int = 0,
        finished: bool = False,
    ) -> None:
        report = self._report
        held = (f"{chosen.tenant}: {chosen.held}",) if finished and chosen.held else ()
        self._report = report.changed(
            tenants=report.tenants + finished,
            forgotten=report.forgotten + forgotten,
            purged=report.purged + purged,
            held=(*report.held, *held)[:_KEPT],
            reasons=dict(Counter(report.reasons) + Counter(reasons or {})),
            examples=(*report.examples, *(item.id for item in _forgotten(chosen) if reasons))[:_KEPT],
        )
        workflow.set_current_details(
            f"**{self._report.tenants}** tenants swept: **{self._report.forgotten}** entries forgotten, "
            f"**{self._report.purged}** purged, **{len(self._report.held)}** tenants held for a person"
        )


def _forgotten(chosen: Forgetting) -> tuple[DueEntry, ...]:
    return () if chosen.held else chosen.tombstone
