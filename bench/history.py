"""What a step adds to the history of a task, early and late: it must not grow with the length of the task."""

import tempfile
from pathlib import Path

from temporalio.api.enums.v1 import EventType

from perdure.settings import Addresses
from tests.support.harness import bench

STEPS = 202
WINDOW = 25
"""The number of steps to average over: as many as share one batch of items to remember."""

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
        remember: [{lane: feedback, key: "${number}", payload: {echo: "${output}"}}]
"""


async def run(addresses: Addresses) -> dict[str, float]:
    """Run one long task, and measure the events of its steps."""
    with tempfile.TemporaryDirectory() as folder:
        async with bench(addresses, Path(folder)) as agents:
            skill = agents.skill(SKILL)
            handle = await agents.start(agents.task(skill, inputs={"numbers": list(range(STEPS))}))
            await handle.result()
            history = await handle.fetch_history()
    scheduled = [
        index
        for index, event in enumerate(history.events)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        and event.activity_task_scheduled_event_attributes.activity_type.name == "echo"
    ]

    def bytes_from(step: int) -> float:
        window = history.events[scheduled[step] : scheduled[step + WINDOW]]
        return sum(event.ByteSize() for event in window) / WINDOW

    return {
        "history.events_per_step": (scheduled[-1] - scheduled[0]) / (len(scheduled) - 1),
        "history.bytes_per_step_at_10": bytes_from(10),
        "history.bytes_per_step_at_200": bytes_from(200 - WINDOW),
    }
