"""Whether a task may be attached to the run that there is under its id: only if it is the same task."""

import asyncio

from perdure.errors import InvalidInput
from perdure.settings import Settings
from perdure.tasks import AgentTask, TaskBinding
from worker.wiring import skills_of


async def require_same(settings: Settings, task: AgentTask, bound: TaskBinding) -> None:
    """Refuse a task that is not the one that its id stands for.

    Args:
        settings: Where the skills are.
        task: The task.
        bound: What its id stands for.

    Raises:
        InvalidTask: It is another one; with the difference.
    """
    library = skills_of(settings)
    try:
        version = (await asyncio.to_thread(library.get, task.skill)).digest
    except InvalidInput:
        # Only the workers may have the skill at hand.
        version = bound.version
    asked = TaskBinding.of(task, version, bound.day)
    if asked.digest != bound.digest:
        raise asked.refused(task.task_id, bound)
