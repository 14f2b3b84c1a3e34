"""Workflows and an activity of somebody who uses Perdure's values in a worker of their own."""

from datetime import date, timedelta

from temporalio import activity, workflow

from perdure import AgentTask, TaskResult


@activity.defn
async def tomorrow(day: date) -> date:
    return day + timedelta(days=1)


@workflow.defn
class Theirs:
    """Uses a value of theirs, and one of Perdure's."""

    @workflow.run
    async def run(self, day: date, task: AgentTask) -> TaskResult:
        found = await workflow.execute_activity(tomorrow, day, start_to_close_timeout=timedelta(seconds=10))
        return TaskResult(task_id=task.task_id, status="completed", output=found.isoformat())


@workflow.defn
class Misfed:
    """Expects a value of Perdure's."""

    @workflow.run
    async def run(self, task: AgentTask) -> str:
        return task.task_id


@workflow.defn(name="ResumableAgent")
class Completes:
    """A task that has nothing to do."""

    @workflow.run
    async def run(self, task: AgentTask) -> TaskResult:
        return TaskResult(task_id=task.task_id, status="completed")
