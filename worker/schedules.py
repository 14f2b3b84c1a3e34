"""The one schedule there is: the forgetting sweep, created once and updated when its definition changes."""

from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleHandle,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from perdure.changes import Actor, ActorKind
from perdure.names import SCHEDULE, Workflow
from perdure.settings import Settings
from perdure.temporal.attributes import TASK_TIMEOUT
from workflows.forget_memory import ForgetRun

CATCH_UP = timedelta(days=1)
"""A server that was down for longer does not run every missed sweep: one sweep forgets all that is due."""


def definition(settings: Settings) -> Schedule:
    """Return the schedule as the settings want it."""
    return Schedule(
        action=ScheduleActionStartWorkflow(
            Workflow.FORGET_MEMORY,
            ForgetRun(by=Actor(kind=ActorKind.SCHEDULE, id=SCHEDULE)),
            id="forget-memory",
            task_queue=settings.task_queue,
            task_timeout=TASK_TIMEOUT,
            static_summary="Forget what the rules no longer keep",
        ),
        spec=ScheduleSpec(cron_expressions=[settings.forgetting_cron], jitter=timedelta(minutes=5)),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP, pause_on_failure=False),
    )


async def ensure_schedule(client: Client, settings: Settings) -> None:
    """Create the schedule, or bring the one there is up to date; a pause set by a person stays.

    Where it is off, the one that starts sweeps on this task queue is deleted; another installation's stays.
    """
    if settings.forgetting_cron == "off":
        return await _delete(client.get_schedule_handle(SCHEDULE), settings.task_queue)
    try:
        await client.create_schedule(SCHEDULE, definition(settings))
    except ScheduleAlreadyRunningError:
        await client.get_schedule_handle(SCHEDULE).update(lambda found: _updated(found, settings))


async def _delete(schedule: ScheduleHandle, queue: str) -> None:
    try:
        action = (await schedule.describe()).schedule.action
        if isinstance(action, ScheduleActionStartWorkflow) and action.task_queue == queue:
            await schedule.delete()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


def _updated(found: ScheduleUpdateInput, settings: Settings) -> ScheduleUpdate | None:
    wanted = definition(settings)
    wanted.state = found.description.schedule.state
    # Cron expressions come back as calendars, so the definition cannot be compared: it is written anew.
    return ScheduleUpdate(schedule=wanted)
