"""A person's word on a task that has ended: taken once the stores answer, and counted then."""

from temporalio import workflow

from activities.feedback import FeedbackActivities
from perdure.names import Workflow
from perdure.temporal.attributes import TENANT
from perdure.values.feedback import LateFeedbackCall, LateVerdict
from workflows import options
from workflows.failures import required


@workflow.defn(name=Workflow.JUDGE_TASK, sandboxed=False)
class JudgeTask:
    """Takes one word on one task. Its id is made of both, so that what is sent again is taken once."""

    @workflow.run
    async def run(self, call: LateFeedbackCall | None = None) -> LateVerdict:
        """Record it on a worker; returns how the task counts from now on."""
        call = required(call, "give a LateFeedbackCall")
        call = call.changed(at=workflow.info().workflow_start_time)
        found = await options.change(FeedbackActivities.judge, call, "Take a person's word on a task that has ended")
        workflow.upsert_search_attributes([TENANT.value_set(found.tenant)])
        return found
