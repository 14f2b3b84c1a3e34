"""Workflows and an activity of somebody who uses Perdure's values in a worker of their own."""

from datetime import date, datetime, timedelta

from temporalio import activity, workflow

from perdure import AgentTask, Phase, Question, TaskResult


@activity.defn
async def tomorrow(day: date) -> date:
    return day + timedelta(days=1)


@workflow.defn
class Theirs:
    """Uses a value of theirs, and one of Perdure's."""

    @workflow.run
    async def run(self, day: date, task: AgentTask) -> TaskResult:
        found = await workflow.execute_activity(tomorrow, day, start_to_close_timeout=timedelta(seconds=10))
        return TaskResult(task_id=task.task_id, status=Phase.COMPLETED, output=found.isoformat())


@activity.defn
async def ends_of(tasks: dict[str, list[AgentTask]]) -> tuple[TaskResult, ...]:
    return tuple(TaskResult(task_id=one.task_id, status=Phase.COMPLETED) for one in tasks["all"])


@workflow.defn
class Several:
    """Passes Perdure's values on in lists, tuples and dicts, to and fro."""

    @workflow.run
    async def run(
        self, tasks: list[AgentTask], questions: tuple[Question, ...]
    ) -> dict[str, TaskResult | datetime | None]:
        asked = {"all": tasks}
        ended = await workflow.execute_activity(ends_of, asked, start_to_close_timeout=timedelta(seconds=10))
        return {**{one.task_id: one for one in ended}, "at": questions[0].asked_at}


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
        return TaskResult(task_id=task.task_id, status=Phase.COMPLETED)

    @workflow.update
    async def answer(self, value: str) -> str:
        return value
