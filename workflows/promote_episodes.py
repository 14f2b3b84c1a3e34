"""Promotion: what is worth keeping of sessions goes to memory before their episodes expire."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.promotion import PromoteCall, PromotionActivities
from perdure.history import History
from perdure.names import REPORT, Activity, Workflow
from perdure.values.requests import PromoteRequest, PromoteResult
from workflows import options
from workflows.failures import asked, problem_of

_KEPT = 20
"""Lines of detail in the result; the counts are whole."""


@workflow.defn(name=Workflow.PROMOTE_EPISODES, sandboxed=False)
class PromoteEpisodes:
    """Promotes what is due, one tenant after the other: texts are only in the tenants' own jobs, and not here."""

    @workflow.init
    def __init__(self, request: PromoteRequest | None = None) -> None:
        self._report = PromoteResult()
        self._history = History(0)

    @workflow.run
    async def run(self, request: PromoteRequest | None = None) -> PromoteResult:
        """Promote until nothing is due; tenants that a long history leaves over are for the next pass."""
        request = asked(request, "give a PromoteRequest, {} for the usual one")
        # A visited tenant is listed again if something is written meanwhile, which is for the next pass.
        visited = dict[str, None]()
        while not self._history.is_due:
            due: tuple[str, ...] = await workflow.execute_activity(
                Activity.DUE_SESSIONS,
                result_type=tuple[str, ...],
                summary="Whose sessions are due",
                **options.of_ingest(),
            )
            self._history.grow()
            waiting = [tenant for tenant in due if tenant not in visited]
            if not waiting:
                break
            for tenant in waiting:
                visited[tenant] = None
                await self._promote(PromoteCall(tenant=tenant, by=request.by))
        return self._report

    @workflow.query(name=REPORT)
    def report(self) -> PromoteResult:
        """What the pass did so far."""
        return self._report

    async def _promote(self, call: PromoteCall) -> None:
        before = self._report
        try:
            found = await options.long_sweep(PromotionActivities.promote, call, f"Promote sessions of {call.tenant}")
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            failed = (*before.failed, f"{call.tenant}: {problem_of(error)}")
            self._report = before.changed(failed=failed[:_KEPT])
        else:
            self._report = PromoteResult(
                tenants=before.tenants + found.tenants,
                sessions=before.sessions + found.sessions,
                episodes=before.episodes + found.episodes,
                jobs=before.jobs + found.jobs,
                failed=(*before.failed, *found.failed)[:_KEPT],
            )
        self._history.grow()
        workflow.set_current_details(
            f"**{self._report.episodes}** episodes of **{self._report.sessions}** sessions looked at, "
            f"**{self._report.jobs}** jobs, **{len(self._report.failed)}** problems"
        )
