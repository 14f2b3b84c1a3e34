"""What a step adds to a task's history does not grow with the task, only with what the step reads."""

from collections.abc import Callable
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType

from tests.conftest import Servers
from tests.support.harness import bench

STEPS = 60
WINDOW = 15
"""Steps that are averaged, at the beginning and at the end: of single ones the server's times differ by some bytes."""


def block(number: str) -> str:
    """Return a skill that goes through a list, and remembers each element."""
    return f"""
inputs: {{large: string}}
steps:
  - for_each: "${{{list(range(STEPS))}}}"
    as: number
    steps:
      - id: echo
        tool: echo
        args: {{value: "{number} of ${{inputs.large.size()}}"}}
"""


def flat(read: Callable[[int], range]) -> str:
    """Return a skill of steps in one list, which read results of the steps before them."""
    lines = ["inputs: {large: string}", "steps:"]
    for number in range(STEPS):
        sizes = " ".join(f"${{size(steps.s{before}.output)}}" for before in read(number))
        lines.append(f"  - {{id: s{number}, tool: echo, args: {{value: 'result {number:03} {sizes}'}}}}")
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("skill", "is_flat"),
    [
        (block("${number}"), True),
        pytest.param(flat(lambda number: range(max(0, number - 1), number)), True, marks=pytest.mark.slow),
        (flat(range), False),
    ],
    ids=["a block", "steps in one list", "control: each reads all before it"],
)
async def test_what_a_step_adds_to_the_history(servers: Servers, tmp_path: Path, skill: str, is_flat: bool) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(skill), inputs={"large": "x" * 20_000}, memory="off")
        handle = await agents.start(task)
        assert (await handle.result()).done == STEPS
        events = (await handle.fetch_history()).events
    starts = [
        index
        for index, event in enumerate(events)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        and event.activity_task_scheduled_event_attributes.activity_type.name == "echo"
    ]
    assert len(starts) == STEPS

    def added(first: int) -> float:
        return sum(event.ByteSize() for event in events[starts[first] : starts[first + WINDOW]]) / WINDOW

    early, late = added(2), added(STEPS - WINDOW - 1)
    assert (late < early * 1.05) is is_flat, (early, late)
