"""The undoing of a task's effects, once it has failed or was cancelled. Decides nothing."""

from temporalio import workflow

from perdure.agent.compensation_plan import CompensationPlan
from perdure.agent.plan import ActionFailure
from perdure.agent.steps.task_calls import CompensateCall, Compensating
from perdure.errors import TaskFailed
from perdure.names import COMPENSATED, Activity
from perdure.skills.steps import COMPENSATE
from workflows import options
from workflows.branches import Branches
from workflows.failures import done
from workflows.plan_runner import PlanRunner
from workflows.running_task import RunningTask


async def compensate(running: RunningTask) -> None:
    """Undo a task's effects, the last one first; what cannot be undone is named in its state.

    The history is not rolled over meanwhile: a cancelled workflow would go on as one that nobody has cancelled.
    """
    if not running.state.compensations:
        return
    task, prepared = running.task, running.state.prepared
    plan = CompensationPlan(task, prepared)
    running.state = plan.begin(running.state)
    running.branches, running.is_compensating = Branches(), True
    running.enter(running.branches.phase)
    # Before anything is undone: nobody may take for done what is not.
    workflow.upsert_memo({COMPENSATED: True})
    call = CompensateCall(tenant=prepared.tenant, epoch=prepared.epoch, task_id=task.task_id)
    summary = f"{len(running.state.compensations)} effects are undone"
    try:
        await done(Activity.BEGIN_COMPENSATING, call, Compensating, summary, options.of_step(prepared.heartbeat))
    except TaskFailed as problem:
        while running.state.compensations:
            running.state = plan.failed(running.state, COMPENSATE, ActionFailure(problem.args[0]))
    await PlanRunner(running, plan, rolls=False).run()
