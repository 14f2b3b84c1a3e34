"""Many tasks at once on one worker, next to as many bare workflows of the same activities."""

import asyncio
import statistics
import tempfile
from pathlib import Path
from uuid import uuid4

from bench.step import Bare, bare_echo, milliseconds
from perdure.settings import Addresses
from tests.support.harness import bench

TASKS = 50
STEPS = 20
ROUNDS = 3

SKILL = """
inputs: {numbers: list}
steps:
  - for_each: "${inputs.numbers}"
    as: number
    steps:
      - {id: echo, tool: echo, args: {value: "${number}"}}
"""


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, so that other load on the machine affects both."""
    with tempfile.TemporaryDirectory() as folder:
        async with bench(addresses, Path(folder), more_workflows=(Bare,), more_activities=(bare_echo,)) as agents:
            skill = agents.skill(SKILL)

            async def ours() -> None:
                inputs = {"numbers": list(range(STEPS))}
                started = await asyncio.gather(*(agents.start(agents.task(skill, inputs=inputs)) for _ in range(TASKS)))
                await asyncio.gather(*(handle.result() for handle in started))

            async def floor() -> None:
                run = agents.client.execute_workflow
                await asyncio.gather(
                    *(run(Bare.run, STEPS, id=f"bare-{uuid4().hex}", task_queue=agents.queue) for _ in range(TASKS))
                )

            await ours()
            await floor()
            pairs = [(await milliseconds(ours), await milliseconds(floor)) for _ in range(ROUNDS)]
    steps = TASKS * STEPS * 1000
    return {
        "load.per_second": steps / statistics.median(mine for mine, _ in pairs),
        "load.floor_per_second": steps / statistics.median(bare for _, bare in pairs),
        "load.ratio": statistics.median(bare / mine for mine, bare in pairs),
    }
