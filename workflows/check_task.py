"""Whether a task could start as it is asked for, found out before anything happens under its id."""

from temporalio import workflow

from activities.tasks import TaskActivities
from activities.tenants import AskedTenantCall, TenantActivities
from perdure.agent.preparation import CheckedTask, PrepareCall
from perdure.agent.state import TaskRun
from perdure.names import Workflow
from perdure.temporal.attributes import TENANT
from workflows import options
from workflows.failures import asked, required


@workflow.defn(name=Workflow.CHECK_TASK, sandboxed=False)
class CheckTask:
    """Checks one task with what a worker has. It has an id of its own, so that the last end of the task stays that."""

    @workflow.run
    async def run(self, task: TaskRun | None = None) -> CheckedTask:
        """Check it on a worker; returns what it would run, or fails as the task would."""
        asking = AskedTenantCall(user_id=required(task, "give an AgentTask").user_id)
        # First, so that the user's erasure finds the run also where the task is refused.
        tenant = await options.change(TenantActivities.asked_tenant, asking, "Find the user's tenant")
        workflow.upsert_search_attributes([TENANT.value_set(tenant)])
        task = asked(task, "give an AgentTask")
        begun = workflow.info().workflow_start_time
        call = PrepareCall(task=task.asked, started_at=begun, first_run="", begin=task.begin)
        return await options.long(TaskActivities.check_task, call, "Check a task before it starts")
