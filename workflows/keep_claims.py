"""Finishing a task that ended while Redis was away: its claims' time starts now, and its id is bound."""

from temporalio import workflow

from perdure.agent.steps.task_calls import KeepCall, Kept
from perdure.names import Activity, Workflow
from workflows import options
from workflows.failures import required


@workflow.defn(name=Workflow.KEEP_CLAIMS, sandboxed=False)
class KeepClaims:
    """Keeps the claims of a task that has ended, once Redis answers; gives up after a week."""

    @workflow.run
    async def run(self, call: KeepCall | None = None) -> Kept:
        """Renew them on a worker, however long Redis is away."""
        call = required(call, "give a KeepCall").changed(patient=True)
        how = options.of_late_keeping()
        return await workflow.execute_activity(
            Activity.KEEP_CLAIMS, call, result_type=Kept, summary="once Redis answers", **how
        )
