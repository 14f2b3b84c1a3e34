"""What tasks stand at that have not ended: what they wait for, as Temporal tells it."""

from collections.abc import Iterable

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus


async def standing(client: Client, workflow_ids: Iterable[str]) -> list[str]:
    """Return a line for each workflow that is open."""
    lines: list[str] = []
    for workflow_id in workflow_ids:
        if not workflow_id:
            lines.append("a task was never accepted")
            continue
        handle = client.get_workflow_handle(workflow_id)
        found = await handle.describe()
        if found.status is not WorkflowExecutionStatus.RUNNING:
            continue
        raw = found.raw_description
        activities = [
            f"{one.activity_type.name} attempt {one.attempt}: {one.last_failure.message[:200]}"
            for one in raw.pending_activities
        ]
        task = raw.pending_workflow_task
        events = [EventType.Name(event.event_type) async for event in handle.fetch_history_events()]
        lines.append(
            f"{workflow_id}: {len(events)} events, last {events[-4:]}, "
            f"activities {activities}, workflow task attempt {task.attempt if task else 0}"
        )
    return lines
