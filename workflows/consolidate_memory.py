"""Consolidation: memories that say the same become one, behind the writes."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.consolidation import (
    ChangedTenant,
    Changes,
    ConsolidationActivities,
    EndConsolidationCall,
    FindDuplicatesCall,
    MergeCall,
)
from perdure.history import History
from perdure.names import REPORT, Activity, Workflow
from perdure.values.changes import Actor
from perdure.values.requests import ConsolidateRequest, ConsolidateResult
from workflows import options
from workflows.failures import asked, problem_of

_KEPT = 20
"""Lines of detail in the result; the counts are whole."""


@workflow.defn(name=Workflow.CONSOLIDATE_MEMORY, sandboxed=False)
class ConsolidateMemory:
    """Consolidates the memories of tenants that have something new, one tenant after the other."""

    @workflow.init
    def __init__(self, request: ConsolidateRequest | None = None) -> None:
        self._report = ConsolidateResult()
        self._history = History(0)

    @workflow.run
    async def run(self, request: ConsolidateRequest | None = None) -> ConsolidateResult:
        """Consolidate until everybody was visited; tenants that a long history leaves over are for the next pass."""
        request = asked(request, "give a ConsolidateRequest, {} for the usual one")
        began, seen = workflow.now(), dict[str, None]()
        while not self._history.is_due:
            found: Changes = await workflow.execute_activity(
                Activity.CHANGED_TENANTS,
                result_type=Changes,
                summary="Who has something new",
                **options.of_ingest(),
            )
            self._history.grow()
            waiting = [one for one in found.tenants if one.tenant not in seen]
            visited: list[ChangedTenant] = []
            for one in waiting:
                seen[one.tenant] = None
                call = FindDuplicatesCall(tenant=one.tenant, since=found.since, at=began)
                if await self._consolidate(call, request.by):
                    visited.append(one)
            # A tenant left to a later pass still has to be looked at from the same moment on.
            is_over = not waiting and not self._report.failed
            end = EndConsolidationCall(visited=tuple(visited), began=began if is_over else None)
            await options.sweep(ConsolidationActivities.end, end, f"Done with {len(visited)} tenants")
            self._history.grow()
            if not waiting:
                break
        return self._report

    @workflow.query(name=REPORT)
    def report(self) -> ConsolidateResult:
        """What the pass did so far."""
        return self._report

    async def _consolidate(self, call: FindDuplicatesCall, by: Actor) -> bool:
        """Consolidate one tenant; returns whether all of it was looked at."""
        operation, merged, before = f"consolidate:{workflow.info().run_id}", 0, 0
        try:
            while True:
                found = await options.long(ConsolidationActivities.find, call, f"What says the same of {call.tenant}")
                self._history.grow()
                if found.pairs:
                    merge = MergeCall(
                        tenant=call.tenant, pairs=found.pairs, operation=operation, by=by, at=workflow.now()
                    )
                    merged += await options.sweep(
                        ConsolidationActivities.merge, merge, f"Merge {len(found.pairs)} pairs of {call.tenant}"
                    )
                    self._history.grow()
                # A memory merged from two may say the same as a third.
                if not found.after and merged == before:
                    return True
                if self._history.is_due:
                    return False
                if not found.after:
                    before = merged
                call = call.changed(after=found.after)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            failed = (*self._report.failed, f"{call.tenant}: {problem_of(error)}")
            self._report = self._report.changed(failed=failed[:_KEPT])
            return False
        finally:
            self._show(merged)

    def _show(self, merged: int) -> None:
        before = self._report
        self._report = before.changed(tenants=before.tenants + 1, merged=before.merged + merged)
        workflow.set_current_details(
            f"**{self._report.merged}** pairs of **{self._report.tenants}** tenants merged, "
            f"**{len(self._report.failed)}** tenants left to a later pass"
        )
