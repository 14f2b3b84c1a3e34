"""Redating entries that were dated by other rules: a pass through all tenants. Activities find those entries."""

from temporalio import workflow

from activities.due_dates import DueDateActivities, RedateCall
from perdure.history import History
from perdure.names import REPORT, Workflow
from perdure.values.requests import RedateRequest, RedateResult
from workflows import options
from workflows.carried import Carried, chain
from workflows.failures import asked

_KEPT = 20
"""Lines of detail in the result; the counts are whole."""


class Redating(Carried):
    """How far a pass has come when its history is rolled over."""

    call: RedateCall
    report: RedateResult


class RedateRun(RedateRequest):
    """The input of one run of ``RedateMemory``: what was asked, and what a rolled over run carries."""

    carried: Redating | None = None


@workflow.defn(name=Workflow.REDATE_MEMORY, sandboxed=False)
class RedateMemory:
    """Dates by today's rules what other rules dated, so that tightened rules apply to stored entries."""

    @workflow.init
    def __init__(self, request: RedateRun | None = None) -> None:
        self._report = request.carried.report if request and request.carried else RedateResult()
        self._history = History(0)

    @workflow.run
    async def run(self, request: RedateRun | None = None) -> RedateResult:
        """Redate until everybody was visited."""
        request = asked(request, "give a RedateRequest, {} for the usual one")
        operation = f"redate:{chain()}"
        first = RedateCall(again=request.again, operation=operation, by=request.by)
        call = request.carried.call if request.carried else first
        while True:
            done = await options.long(DueDateActivities.redate, call, "Date anew what other rules dated")
            self._history.grow()
            report, found = self._report, done.found
            self._report = RedateResult(
                tenants=report.tenants + found.tenants,
                redated=report.redated + found.redated,
                failed=(*report.failed, *found.failed)[:_KEPT],
            )
            workflow.set_current_details(
                f"**{self._report.tenants}** tenants visited: **{self._report.redated}** entries dated anew, "
                f"**{len(self._report.failed)}** tenants left to the next pass"
            )
            if not done.more:
                return self._report
            call = call.changed(
                after=done.after, rules_version=done.rules_version, complete=call.complete and not found.failed
            )
            if self._history.is_due:
                carried = Redating(chain=chain(), call=call, report=self._report)
                workflow.continue_as_new(RedateRun(again=request.again, by=request.by, carried=carried))

    @workflow.query(name=REPORT)
    def report(self) -> RedateResult:
        """What the pass did so far."""
        return self._report
