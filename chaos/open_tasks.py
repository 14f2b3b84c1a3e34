"""What tasks stand at that have not ended, as they and Temporal tell it."""

from collections.abc import Iterable

from temporalio.service import RPCError

from perdure.errors import PerdureError
from perdure.values.changes import Actor
from worker.gateway import Gateway


async def standing(gateway: Gateway, workflow_ids: Iterable[str], *, by: Actor) -> list[str]:
    """Return a line for each task that is open."""
    lines: list[str] = []
    for workflow_id in workflow_ids:
        if not workflow_id:
            lines.append("a task was never accepted")
            continue
        try:
            raw = (await (await gateway.task(workflow_id, by=by)).describe()).raw_description
        except (PerdureError, RPCError) as problem:
            lines.append(f"{workflow_id}: Temporal cannot say: {problem}")
            continue
        if raw.workflow_execution_info.HasField("close_time"):
            continue
        try:
            progress = await gateway.progress(workflow_id, seconds=20, by=by)
            told = f"{progress.phase} at {progress.step}, asks {len(progress.questions)}" if progress else "cannot say"
        except PerdureError as problem:
            told = f"cannot say: {problem}"
        failing = [
            f"{one.activity_type.name}, attempt {one.attempt}: {one.last_failure.message}"
            for one in raw.pending_activities
        ]
        lines.append(f"{workflow_id}: {told}; activities under way: {'; '.join(failing) or 'none'}")
    return lines
