"""Elements of a list ten at a time, next to a bare workflow that keeps ten of the same activities on their way."""

import asyncio
import statistics
import tempfile
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from bench.step import bare_echo, milliseconds
    from perdure.settings import Addresses
    from tests.support.harness import bench

ELEMENTS = 500
AT_ONCE = 10
ROUNDS = 3

SKILL = f"""
inputs: {{numbers: list}}
steps:
  - for_each: "${{inputs.numbers}}"
    as: number
    at_once: {AT_ONCE}
    steps:
      - {{id: echo, tool: echo, args: {{value: "${{number}}"}}}}
output: "${{steps.number.done == {ELEMENTS}}}"
"""


@workflow.defn(sandboxed=False)
class BareFan:
    """The floor: ten loops over an activity, which share one list."""

    @workflow.run
    async def run(self, elements: int) -> int:
        """Call the activity for each element."""
        left = iter(range(elements))

        async def walk() -> None:
            for number in left:
                await workflow.execute_activity(
                    bare_echo,
                    number,
                    start_to_close_timeout=timedelta(seconds=30),
                    heartbeat_timeout=timedelta(seconds=2),
                )

        await asyncio.gather(*(walk() for _ in range(AT_ONCE)))
        return elements


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, so that other load on the machine affects both."""
    with tempfile.TemporaryDirectory() as folder:
        async with bench(addresses, Path(folder), more_workflows=(BareFan,), more_activities=(bare_echo,)) as agents:
            skill = agents.skill(SKILL)

            async def ours() -> None:
                task = agents.task(skill, inputs={"numbers": list(range(ELEMENTS))})
                await agents.client.get_workflow_handle((await agents.start(task)).id).result()

            async def floor() -> None:
                await agents.client.execute_workflow(
                    BareFan.run, ELEMENTS, id=f"bare-{uuid4().hex}", task_queue=agents.queue
                )

            await ours()
            await floor()
            pairs = [(await milliseconds(ours), await milliseconds(floor)) for _ in range(ROUNDS)]
    return {
        "parallel.per_second": ELEMENTS * 1000 / statistics.median(mine for mine, _ in pairs),
        "parallel.floor_per_second": ELEMENTS * 1000 / statistics.median(bare for _, bare in pairs),
        "parallel.ratio": statistics.median(bare / mine for mine, bare in pairs),
    }
