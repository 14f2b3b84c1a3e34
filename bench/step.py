"""The cost of an agent's step, next to a bare workflow that calls an activity in a loop."""

import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    from perdure.settings import Addresses
    from tests.support.harness import Bench, bench

STEPS = 100
ROUNDS = 5

SKILL = f"""
inputs: {{numbers: list}}
steps:
  - for_each: "${{inputs.numbers}}"
    as: number
    steps:
      - {{id: echo, tool: echo, args: {{value: "${{number}}"}}}}
output: "${{steps.number.done == {STEPS}}}"
"""


@activity.defn
async def bare_echo(value: int) -> int:
    """Return the value, as the tool does."""
    return value


@workflow.defn(sandboxed=False)
class Bare:
    """The floor: a hand-written loop over an activity."""

    @workflow.run
    async def run(self, steps: int) -> int:
        """Call the activity ``steps`` times."""
        for number in range(steps):
            await workflow.execute_activity(
                bare_echo,
                number,
                start_to_close_timeout=timedelta(seconds=30),
                heartbeat_timeout=timedelta(seconds=2),
            )
        return steps


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, so that other load on the machine affects both."""
    with tempfile.TemporaryDirectory() as folder:
        async with bench(addresses, Path(folder), more_workflows=(Bare,), more_activities=(bare_echo,)) as agents:
            skill = agents.skill(SKILL)

            async def ours() -> None:
                await (await agents.start(agents.task(skill, inputs={"numbers": list(range(STEPS))}))).result()

            async def floor() -> None:
                await _bare(agents)

            await ours()
            await floor()
            pairs = [(await milliseconds(ours), await milliseconds(floor)) for _ in range(ROUNDS)]
    return ratio_of(pairs, STEPS, "step")


def ratio_of(pairs: Sequence[tuple[float, float]], count: int, name: str) -> dict[str, float]:
    """Return the median milliseconds of one of so many things, of ours and of the floor, and their ratio."""
    return {
        f"{name}.ms": statistics.median(mine for mine, _ in pairs) / count,
        f"{name}.floor_ms": statistics.median(bare for _, bare in pairs) / count,
        f"{name}.ratio": statistics.median(mine / bare for mine, bare in pairs),
    }


async def _bare(agents: Bench) -> None:
    await agents.client.execute_workflow(Bare.run, STEPS, id=f"bare-{uuid4().hex}", task_queue=agents.queue)


async def milliseconds(work: Callable[[], Awaitable[None]]) -> float:
    """Return how long some work takes."""
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000
