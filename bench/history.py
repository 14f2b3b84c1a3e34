"""What a step adds to the history of a task, early and late: it must not grow with the length of the task."""

import tempfile
from pathlib import Path

from temporalio.api.enums.v1 import EventType

from bench.long import histories
from perdure.settings import Addresses
from tests.support.harness import bench

STEPS = 202
WINDOW = 25
"""The number of steps to average over: as many as share one batch of items to remember."""

_OF_A_RUN = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
}

SKILL = """
inputs: {numbers: list}
steps:
  - {id: large, tool: big, args: {size: 50000}}
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - id: echo
        tool: echo
        args: {value: "${number} of ${steps.large.output.size()}"}
        remember: [{lane: pattern, key: "${number}", payload: {echo: "${output}"}}]
"""


async def run(addresses: Addresses) -> dict[str, float]:
    """Run one long task, and measure the events of its steps."""
    with tempfile.TemporaryDirectory() as folder:
        async with bench(addresses, Path(folder)) as agents:
            skill = agents.skill(SKILL)
            task = agents.task(skill, inputs={"numbers": list(range(STEPS))})
            handle = await agents.start(task)
            await handle.result()
            runs = await histories(agents.client, task.workflow_id, handle.first_execution_run_id or "")
    events = [event for of_run in runs for event in of_run]
    scheduled = [
        index
        for index, event in enumerate(events)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        and event.activity_task_scheduled_event_attributes.activity_type.name == "echo"
    ]

    def bytes_from(step: int) -> float:
        # What a rollover carries on is no step's; one that falls into the window would be in both events and bytes.
        window = events[scheduled[step] : scheduled[step + WINDOW]]
        kept = [event for event in window if event.event_type not in _OF_A_RUN]
        return sum(event.ByteSize() for event in kept) / WINDOW

    return {
        "history.events_per_step": (scheduled[-1] - scheduled[0]) / (len(scheduled) - 1),
        "history.bytes_per_step_at_10": bytes_from(10),
        "history.bytes_per_step_at_200": bytes_from(200 - WINDOW),
    }
