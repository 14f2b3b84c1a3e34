"""Tasks on a schedule: created, changed, listed, deleted."""

from datetime import UTC, datetime
from functools import partial

from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleInfo,
    ScheduleIntervalSpec,
    ScheduleListInfo,
    ScheduleListState,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure.durations import duration_of
from perdure.errors import InvalidInput, InvalidTask
from perdure.names import AGAIN, STARTED_BY, TASK, Workflow
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.temporal.schedules import is_listed_for_task, is_of_task
from perdure.values.changes import Actor, ActorKind
from perdure.values.schedules import TaskSchedule, Timing, started_at
from perdure.values.tasks import AgentTask
from worker.gateway.base import call
from worker.gateway.tasks import TaskCalls
from worker.schedules import CATCH_UP


class ScheduleCalls(TaskCalls):
    """Starting tasks again and again, by Temporal's schedules."""

    @call
    async def schedule(self, task: AgentTask, timing: Timing, *, by: Actor) -> TaskSchedule:
        """Start a task at each of many moments, or change when and what: its id is the schedule's.

        Each start is a task of its own: its id is that of the task with the moment behind it. Where the one before has
        not ended, a start is left out. A pause set in Temporal stays.

        Args:
            task: What is started. Without a date of its own, each start has the day on which it begins.
            timing: When.
            by: Who schedules it. Whoever looks at a start sees the schedule as who started it.

        Raises:
            InvalidInput: The timing, or the length of the task's id, with the fix; or a worker says that such a task
                cannot start, and why.
            StoreUnavailable: It cannot be audited.
        """
        # What its id stands for outside the schedule does not matter: each start has one of its own.
        await self._check_at_once(started_at(task, datetime.now(UTC)))
        await self._administered(task.workflow_id, why="schedule a task", by=by)
        client, wanted = await self.client(), _definition(task, timing, self._settings.task_queue)
        memo = {TASK: task.task_id, STARTED_BY: by.model_dump(mode="json")}
        handle = client.get_schedule_handle(task.workflow_id)
        try:
            try:
                await client.create_schedule(handle.id, wanted, memo=memo)
            except ScheduleAlreadyRunningError:
                await handle.update(partial(_updated, wanted))
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            raise _refused(timing, error.message) from error
        found = await handle.describe()
        return _shown(handle.id, task.task_id, found.schedule.state, found.info)

    @call
    async def schedules(self, *, by: Actor) -> list[TaskSchedule]:
        """Return the tasks that are on a schedule, of all users. One that was just made may be missing for a moment."""
        found: list[TaskSchedule] = []
        async for one in await (await self.client()).list_schedules():
            if one.schedule is None or one.info is None or not is_listed_for_task(one):
                continue
            task_id = await one.memo_value(TASK, one.id, type_hint=str)
            found.append(_shown(one.id, task_id, one.schedule.state, one.info))
        return found

    @call
    async def unschedule(self, identifier: str, *, by: Actor) -> None:
        """Delete a task's schedule; tasks that it has started go on.

        Raises:
            InvalidTask: There is none with this id.
            StoreUnavailable: It cannot be audited.
        """
        handle = (await self.client()).get_schedule_handle(identifier)
        unknown = InvalidTask("task", f"{identifier!r} has no schedule", fix="perdure schedules lists them")
        try:
            if not is_of_task(await handle.describe()):
                raise unknown
            await self._administered(identifier, why="delete a schedule", by=by)
            await handle.delete()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            raise unknown from error


def _refused(timing: Timing, said: str) -> InvalidInput:
    """Return the error for a timing that Temporal refuses, in its words."""
    said = said.removeprefix("Invalid schedule spec: ")
    if "time zone" in said:
        return InvalidInput("zone", f"there is no time zone {timing.zone!r}", fix="give an IANA name: Europe/Berlin")
    fix = "write minute, hour, day, month and weekday: 0 6 * * MON"
    return InvalidInput("cron", f"{timing.cron!r} is refused: {said}", fix=fix)


def _shown(
    identifier: str,
    task_id: str,
    state: ScheduleState | ScheduleListState,
    info: ScheduleInfo | ScheduleListInfo,
) -> TaskSchedule:
    started = (one.action for one in info.recent_actions)
    return TaskSchedule(
        id=identifier,
        task_id=task_id,
        about=state.note or "",
        upcoming=tuple(info.next_action_times[:5]),
        recent=tuple(one.workflow_id for one in started if isinstance(one, ScheduleActionExecutionStartWorkflow)),
        paused=state.paused,
    )


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
            static_summary=task.summary,
            memo={STARTED_BY: by.model_dump(mode="json"), AGAIN: False},
        ),
        spec=ScheduleSpec(
            intervals=intervals,
            cron_expressions=[timing.cron] if timing.cron else [],
            time_zone_name=timing.zone,
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
        state=ScheduleState(note=f"{task.summary}, {timing.told}"),
    )


def _updated(wanted: Schedule, found: ScheduleUpdateInput) -> ScheduleUpdate:
    wanted.state.paused = found.description.schedule.state.paused
    return ScheduleUpdate(wanted)
