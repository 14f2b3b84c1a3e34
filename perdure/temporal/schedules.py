"""The schedules of tasks, as Temporal has them."""

from typing import TypeGuard

from temporalio.client import (
    Client,
    ScheduleAction,
    ScheduleActionStartWorkflow,
    ScheduleDescription,
    ScheduleListActionStartWorkflow,
    ScheduleListDescription,
)

from perdure.names import Workflow
from perdure.temporal.inputs import user_in


def is_of_task(found: ScheduleDescription) -> bool:
    """Return whether a schedule starts tasks."""
    return _starts_tasks(found.schedule.action)


def is_listed_for_task(found: ScheduleListDescription) -> bool:
    """Return whether a schedule starts tasks, as far as the list tells."""
    action = found.schedule.action if found.schedule else None
    return isinstance(action, ScheduleListActionStartWorkflow) and action.workflow == Workflow.RESUMABLE_AGENT


async def user_of(client: Client, found: ScheduleDescription, queue: str) -> str | None:
    """Return whose tasks a schedule starts on a task queue; None where it starts none.

    Raises:
        ValueError: Its input cannot be read here.
    """
    action = found.schedule.action
    if not _starts_tasks(action) or action.task_queue != queue:
        return None
    return await user_in(client, action.args)


def _starts_tasks(action: ScheduleAction) -> TypeGuard[ScheduleActionStartWorkflow]:
    return isinstance(action, ScheduleActionStartWorkflow) and action.workflow == Workflow.RESUMABLE_AGENT
