"""Tasks on a schedule: created, changed, listed, deleted."""

from collections.abc import Sequence
from functools import partial

from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionResult,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure.changes import Actor, ActorKind
from perdure.durations import duration_of
from perdure.errors import InvalidInput, InvalidTask
from perdure.names import AGAIN, STARTED_BY, TASK, Workflow
from perdure.schedules import LONGEST_ID, TaskSchedule, Timing
from perdure.tasks import AgentTask
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.temporal.schedules import is_listed_for_task, is_of_task
from worker.gateway.base import Base, call
from worker.schedules import CATCH_UP

_TASK_ID = TASK
"""The memo of a schedule that holds the id by which its task was scheduled."""


class SchedulingCalls(Base):
    """Starting tasks again and again, by Temporal's schedules."""

    @call
    async def schedule(self, task: AgentTask, timing: Timing, *, by: Actor) -> TaskSchedule:
        """Have a task started at each of many moments, or change when and what: its id is the schedule's.

        Each start is a task of its own: its id is that of the task with the moment behind it. Where the one before has
        not ended, a start is left out. A pause set in Temporal stays.

        Args:
            task: What is started. Without a date of its own, each start has the day on which it begins.
            timing: When.
            by: Who schedules it. Whoever looks at a start sees the schedule as who started it.

        Raises:
            InvalidInput: The timing, or the length of the task's id, with the fix.
        """
        if len(task.task_id) > LONGEST_ID:
            problem = f"has {len(task.task_id)} characters, and a scheduled task's at most {LONGEST_ID}"
            raise InvalidTask("task_id", problem, fix="choose a shorter one: each start adds its moment")
        client, wanted = await self.client(), _definition(task, timing, self._settings.task_queue)
        memo = {_TASK_ID: task.task_id, STARTED_BY: by.model_dump(mode="json")}
        try:
            try:
                await client.create_schedule(task.workflow_id, wanted, memo=memo)
            except ScheduleAlreadyRunningError:
                await client.get_schedule_handle(task.workflow_id).update(partial(_updated, wanted))
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            fix = "a cron expression has five fields (0 6 * * MON), a zone an IANA name (Europe/Berlin)"
            raise InvalidInput("timing", f"is refused by Temporal: {error.message}", fix=fix) from error
        found = await client.get_schedule_handle(task.workflow_id).describe()
        return TaskSchedule(
            id=task.workflow_id,
            task_id=task.task_id,
            about=wanted.state.note or "",
            upcoming=tuple(found.info.next_action_times[:5]),
            recent=_started(found.info.recent_actions),
            paused=found.schedule.state.paused,
        )

    @call
    async def schedules(self, *, by: Actor) -> list[TaskSchedule]:
        """Return the tasks that are on a schedule, of all users. One that was just made may be missing for a moment."""
        found: list[TaskSchedule] = []
        async for one in await (await self.client()).list_schedules():
            if one.schedule is None or one.info is None or not is_listed_for_task(one):
                continue
            found.append(
                TaskSchedule(
                    id=one.id,
                    task_id=await one.memo_value(_TASK_ID, one.id, type_hint=str),
                    about=one.schedule.state.note or "",
                    upcoming=tuple(one.info.next_action_times[:5]),
                    recent=_started(one.info.recent_actions),
                    paused=one.schedule.state.paused,
                )
            )
        return found

    @call
    async def unschedule(self, identifier: str, *, by: Actor) -> None:
        """Delete a task's schedule; tasks that it has started go on.

        Raises:
            InvalidTask: There is none with this id.
        """
        client = await self.client()
        unknown = InvalidTask("task", f"{identifier!r} has no schedule", fix="perdure schedules lists them")
        try:
            if not is_of_task(await client.get_schedule_handle(identifier).describe()):
                raise unknown
            await client.get_schedule_handle(identifier).delete()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            raise unknown from error


def _started(actions: Sequence[ScheduleActionResult]) -> tuple[str, ...]:
    started = (one.action for one in actions)
    return tuple(one.workflow_id for one in started if isinstance(one, ScheduleActionExecutionStartWorkflow))


def _definition(task: AgentTask, timing: Timing, queue: str) -> Schedule:
    by = Actor(kind=ActorKind.SCHEDULE, id=task.workflow_id)
    intervals = [ScheduleIntervalSpec(every=duration_of(timing.every))] if timing.every else []
    return Schedule(
        action=ScheduleActionStartWorkflow(
            Workflow.RESUMABLE_AGENT,
            task,
            id=task.workflow_id,
            task_queue=queue,
            task_timeout=TASK_TIMEOUT,
            static_summary=f"{task.title} for {task.agent}",
            memo={STARTED_BY: by.model_dump(mode="json"), AGAIN: False},
        ),
        spec=ScheduleSpec(
            intervals=intervals,
            cron_expressions=[timing.cron] if timing.cron else [],
            time_zone_name=timing.zone,
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
        state=ScheduleState(note=f"{task.title} for {task.agent}, {timing.told}"),
    )


def _updated(wanted: Schedule, found: ScheduleUpdateInput) -> ScheduleUpdate:
    wanted.state.paused = found.description.schedule.state.paused
    return ScheduleUpdate(wanted)
