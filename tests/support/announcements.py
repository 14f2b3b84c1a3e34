"""What a task has asked, as its history says: a question that is open for a second may not be seen by asking."""

from typing import Any

from temporalio.client import WorkflowHandle

from perdure.agent.steps.task_calls import AnnounceCall
from perdure.names import Activity
from perdure.temporal.converter import composed


async def announced(handle: WorkflowHandle[Any, Any]) -> list[AnnounceCall]:
    """Return what a task wrote into its session of its questions, in its order."""
    converter = composed(None).payload_converter
    scheduled = [
        event.activity_task_scheduled_event_attributes
        for event in (await handle.fetch_history()).events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    return [
        call
        for one in scheduled
        if one.activity_type.name == Activity.ANNOUNCE
        for call in converter.from_payloads(one.input.payloads, [AnnounceCall])
    ]
