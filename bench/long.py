"""A task of 1,000 steps: what a step takes and adds to the history, early and late, and how large a run becomes."""

import itertools
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from perdure.settings import Addresses
from tests.support.harness import bench

STEPS = 1_000
WINDOW = 100
"""The number of steps to average over. A run has some 150: a window can hold one rollover, and hardly ever two."""

SKILL = """
inputs: {numbers: list, ledger: string}
steps:
  - {id: large, tool: big, args: {size: 50000}}
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - id: write
        tool: append
        args: {ledger: "${inputs.ledger}", line: "${number} of ${steps.large.output.size()}"}
"""


async def run(addresses: Addresses) -> dict[str, float]:
    """Run one task, and read the histories of all its runs."""
    with tempfile.TemporaryDirectory() as folder:
        async with bench(addresses, Path(folder)) as agents:
            inputs = {"numbers": list(range(STEPS)), "ledger": str(agents.ledger())}
            task = agents.task(agents.skill(SKILL), inputs=inputs)
            handle = await agents.start(task)
            await handle.result()
            runs = await histories(agents.client, task.workflow_id, handle.first_execution_run_id or "")
    events = [event for of_run in runs for event in of_run]
    begun = [index for index, event in enumerate(events) if _begins_a_step(event)]
    if len(begun) != STEPS:
        raise RuntimeError(f"{len(begun)} steps were scheduled, and not {STEPS}")
    early, late = (begun[first : first + WINDOW + 1] for first in (10, STEPS - WINDOW - 1))
    times, sizes = ([of(events, window) for window in (early, late)] for of in (_milliseconds, _bytes))
    return {
        "long.ms_per_step_at_10": times[0],
        "long.ms_per_step_at_1000": times[1],
        "long.ms_ratio": times[1] / times[0],
        "long.bytes_per_step_at_10": sizes[0],
        "long.bytes_per_step_at_1000": sizes[1],
        "long.bytes_ratio": sizes[1] / sizes[0],
        "long.runs": len(runs),
        "long.events_per_run": max(len(of_run) for of_run in runs),
    }


async def histories(client: Client, workflow_id: str, run_id: str) -> list[Sequence[HistoryEvent]]:
    """Return the histories of a workflow's runs, from a run on to its last one."""
    found = list[Sequence[HistoryEvent]]()
    while run_id:
        history = await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
        found.append(history.events)
        last = history.events[-1]
        run_id = last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return found


def _begins_a_step(event: HistoryEvent) -> bool:
    is_scheduled = event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    return is_scheduled and event.activity_task_scheduled_event_attributes.activity_type.name == "append"


def _milliseconds(events: Sequence[HistoryEvent], begun: Sequence[int]) -> float:
    """Return the median time from step to step: a rollover is no step's."""
    moments = [events[index].event_time.ToNanoseconds() / 1e6 for index in begun]
    return statistics.median(after - here for here, after in itertools.pairwise(moments))


def _bytes(events: Sequence[HistoryEvent], begun: Sequence[int]) -> float:
    """Return the median bytes of a step: what a rollover carries on is no step's."""
    return statistics.median(
        sum(event.ByteSize() for event in events[here:after]) for here, after in itertools.pairwise(begun)
    )
