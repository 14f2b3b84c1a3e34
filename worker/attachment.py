"""Whether a task may be attached to the existing run under its id: only if it is the same task."""

import asyncio
from typing import Any

from temporalio.client import WorkflowExecutionDescription, WorkflowHandle

from perdure.errors import InvalidInput, InvalidTask
from perdure.names import BINDING
from perdure.settings import Settings
from perdure.values.beginnings import BeginRequest
from perdure.values.bindings import TaskBinding
from perdure.values.tasks import AgentTask, TaskEnvelope
from worker.wiring.registries import agents_of, skills_of


async def require_same(
    settings: Settings,
    task: AgentTask,
    handle: WorkflowHandle[Any, Any],
    found: WorkflowExecutionDescription,
    begin: BeginRequest | None = None,
) -> None:
    """Refuse a task that is not the one that its id stands for.

    Args:
        settings: Where skills and agents are.
        task: The task.
        handle: The existing workflow under its id.
        found: What Temporal says of it.
        begin: Where a fork is to begin, of which task; None: it is none.

    Raises:
        InvalidTask: It is another task; with the difference.
    """
    bound = await found.memo_value(BINDING, None, type_hint=TaskBinding)
    if bound is None:
        # Nothing is pinned before it is prepared: what it runs is compared by name alone.
        version, bound = "", TaskBinding.of(await _started_with(handle, found), "", found.start_time.date())
    else:
        version = await _version_of(settings, task, otherwise=bound.version)
    asked = TaskBinding.of(task, version, bound.day)
    if not asked.is_same(bound):
        raise asked.refused(task.task_id, bound)
    begins = (bound.begins.of, bound.begins.step) if bound.begins else None
    if begin is not None and version and begins != (begin.of, begin.step):
        raise InvalidTask("task_id", f"{task.task_id!r} is already used by another task", fix="choose a new task_id")


async def _started_with(handle: WorkflowHandle[Any, Any], found: WorkflowExecutionDescription) -> TaskEnvelope:
    history = await anext(handle.fetch_history_events(page_size=1))
    given = history.workflow_execution_started_event_attributes.input.payloads
    [task] = await found.data_converter.decode(given, [TaskEnvelope])
    return task


async def _version_of(settings: Settings, task: AgentTask, *, otherwise: str) -> str:
    try:
        if task.skill:
            return (await asyncio.to_thread(skills_of(settings).linked, task.skill)).version
        return (await asyncio.to_thread(agents_of(settings).get, task.agent)).version
    except InvalidInput:
        # Only the workers may have it at hand.
        return otherwise
