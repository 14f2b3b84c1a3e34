"""The deadline of a whole task. Decides nothing."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta

from temporalio import workflow

from perdure.agent.plan import Finish
from perdure.errors import TaskFailed
from workflows.running_task import RunningTask


async def within_deadline(running: RunningTask, work: Coroutine[None, None, Finish]) -> Finish:
    """Return how a task's plan ends; what ends in the moment of the deadline counts.

    Raises:
        TaskFailed: The deadline has passed. Steps under way are left to the task's end, which cuts off no effect.
    """
    if (until := running.until) is None:
        return await work
    working = asyncio.create_task(work)
    try:
        left = max(until - workflow.now(), timedelta())
        await workflow.wait_condition(working.done, timeout=left, timeout_summary="the task's deadline")
    except TimeoutError:
        if not working.done():
            raise TaskFailed(f"the task did not end within {running.task.limits.hours:g} h (limits.hours)") from None
    finally:
        working.cancel()
    return working.result()
