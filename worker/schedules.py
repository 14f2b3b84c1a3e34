"""The schedules: created once, updated when their definition changes; and workflows that are started ahead of time."""

from datetime import timedelta
from functools import partial
from typing import NamedTuple

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
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import InvalidInput
from perdure.model import Request
from perdure.names import ScheduleId, Workflow
from perdure.settings import Settings
from perdure.temporal.attributes import TASK_TIMEOUT
from perdure.temporal.errors import translated
from perdure.together import together
from perdure.values.changes import PROGRAM, Actor, ActorKind
from perdure.values.requests import ConsolidateRequest, ForgetRequest, PromoteRequest, ReconcileRequest, RedateRequest

_RECONCILE = "reconcile-memory"

CATCH_UP = timedelta(days=1)
"""A server that was down for longer does not run every missed sweep: one sweep forgets all that is due."""


class Scheduled(NamedTuple):
    """What one schedule starts, and when."""

    id: str
    setting: str
    """The setting that says when: its cron expression, in UTC; ``off``: never."""
    workflow: Workflow
    request: Request | None
    workflow_id: str
    summary: str

    def cron(self, settings: Settings) -> str:
        """Return when it starts, as the settings say."""
        return str(getattr(settings, self.setting))


_SCHEDULED = (
    Scheduled(
        ScheduleId.FORGETTING,
        "forgetting_cron",
        Workflow.FORGET_MEMORY,
        ForgetRequest(by=Actor(kind=ActorKind.SCHEDULE, id=ScheduleId.FORGETTING)),
        "forget-memory",
        "Forget what the rules no longer keep",
    ),
    Scheduled(
        ScheduleId.ACCESSES,
        "accesses_cron",
        Workflow.FLUSH_ACCESSES,
        None,
        "flush-accesses",
        "Write down what was recalled",
    ),
    Scheduled(
        ScheduleId.PROMOTION,
        "promotion_cron",
        Workflow.PROMOTE_EPISODES,
        PromoteRequest(by=Actor(kind=ActorKind.SCHEDULE, id=ScheduleId.PROMOTION)),
        "promote-episodes",
        "Promote what is worth keeping of sessions",
    ),
    Scheduled(
        ScheduleId.CONSOLIDATION,
        "consolidation_cron",
        Workflow.CONSOLIDATE_MEMORY,
        ConsolidateRequest(by=Actor(kind=ActorKind.SCHEDULE, id=ScheduleId.CONSOLIDATION)),
        "consolidate-memory",
        "Make one of memories that say the same",
    ),
    Scheduled(
        ScheduleId.REDATING,
        "redating_cron",
        Workflow.REDATE_MEMORY,
        RedateRequest(by=Actor(kind=ActorKind.SCHEDULE, id=ScheduleId.REDATING)),
        "redate-memory",
        "Date anew what other rules dated",
    ),
    Scheduled(
        ScheduleId.RECONCILIATION,
        "reconciling_cron",
        Workflow.RECONCILE_MEMORY,
        ReconcileRequest(by=Actor(kind=ActorKind.SCHEDULE, id=ScheduleId.RECONCILIATION)),
        _RECONCILE,
        "Reconcile the stores with each other",
    ),
)


def _definition(one: Scheduled, settings: Settings) -> Schedule:
    """Return a schedule as the settings define it."""
    return Schedule(
        action=ScheduleActionStartWorkflow(
            one.workflow,
            args=[] if one.request is None else [one.request],
            id=one.workflow_id,
            task_queue=settings.task_queue,
            task_timeout=TASK_TIMEOUT,
            static_summary=one.summary,
        ),
        spec=ScheduleSpec(cron_expressions=[one.cron(settings)], jitter=timedelta(minutes=5)),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP, pause_on_failure=False),
    )


@translated
async def ensure_schedules(client: Client, settings: Settings) -> None:
    """Create the schedules, or bring existing ones up to date; a pause set by a person stays.

    If one is off, the schedule that starts workflows on this task queue is deleted; another installation's stays.

    Raises:
        InvalidInput: Temporal refuses the time that a setting gives.
        StoreUnavailable: Temporal does not answer.
    """
    await together(*(_ensure(client, settings, one) for one in _SCHEDULED))


async def _ensure(client: Client, settings: Settings, one: Scheduled) -> None:
    handle, cron = client.get_schedule_handle(one.id), one.cron(settings)
    if cron == "off":
        await _delete(handle, settings.task_queue)
        return
    wanted = _definition(one, settings)
    try:
        try:
            await client.create_schedule(one.id, wanted)
        except ScheduleAlreadyRunningError:
            await handle.update(partial(_updated, wanted))
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        fix = f"set PERDURE_{one.setting.upper()} to five fields such as '0 3 * * *', or to off"
        raise InvalidInput(one.setting, f"Temporal refuses {cron!r}: {error.message}", fix=fix) from error


@translated
async def start_reconciling(client: Client, settings: Settings) -> None:
    """Start a reconciliation of the stores, unless one is under way.

    Raises:
        StoreUnavailable: Temporal does not answer.
    """
    await client.start_workflow(
        Workflow.RECONCILE_MEMORY,
        ReconcileRequest(by=PROGRAM),
        id=_RECONCILE,
        task_queue=settings.task_queue,
        task_timeout=TASK_TIMEOUT,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary="A store lost data",
    )


async def _delete(schedule: ScheduleHandle, queue: str) -> None:
    try:
        action = (await schedule.describe()).schedule.action
        if isinstance(action, ScheduleActionStartWorkflow) and action.task_queue == queue:
            await schedule.delete()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


def _updated(wanted: Schedule, found: ScheduleUpdateInput) -> ScheduleUpdate | None:
    wanted.state = found.description.schedule.state
    # Cron expressions come back as calendars, so the definition cannot be compared: it is written anew.
    return ScheduleUpdate(schedule=wanted)
