"""The cost of a quick step, next to a bare workflow that calls a local activity in a loop.

Ours has ten policies, an ``expect`` in each step, and an episode of each.
"""

import tempfile
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from bench.step import bare_echo, milliseconds, ratio_of
    from perdure.settings import Addresses
    from tests.support.harness import bench

STEPS = 400
ROUNDS = 5
POLICIES = 10

SKILL = f"""
inputs: {{numbers: list}}
steps:
  - for_each: "${{inputs.numbers}}"
    as: number
    steps:
      - id: echo
        tool: echo_quickly
        args: {{value: "${{number}}"}}
        expect: "${{output == number}}"
output: "${{steps.number.done == {STEPS}}}"
"""

POLICY = """
name: guard-{number}
rationale: No call may name the system that is guarded here.
level: hard
when: "${{tool == 'echo_quickly' && arguments.value == -{number}}}"
"""


@workflow.defn(sandboxed=False)
class BareLocal:
    """The floor: a hand-written loop over a local activity."""

    @workflow.run
    async def run(self, steps: int) -> int:
        """Call the activity ``steps`` times."""
        for number in range(steps):
            await workflow.execute_local_activity(
                bare_echo,
                number,
                start_to_close_timeout=timedelta(seconds=1),
                retry_policy=RetryPolicy(maximum_attempts=1),
            )
        return steps


async def run(addresses: Addresses) -> dict[str, float]:
    """Measure both in turn, so that other load on the machine affects both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        policies = folder / "policies"
        policies.mkdir()
        for number in range(1, POLICIES + 1):
            (policies / f"guard-{number}.yaml").write_text(POLICY.format(number=number), encoding="utf-8")
        async with bench(
            addresses,
            folder,
            more={"policies": (policies,)},
            more_workflows=(BareLocal,),
            more_activities=(bare_echo,),
        ) as agents:
            skill = agents.skill(SKILL)

            async def ours() -> None:
                handle = await agents.start(agents.task(skill, inputs={"numbers": list(range(STEPS))}))
                assert (await handle.result()).output is True

            async def floor() -> None:
                id_ = f"bare-local-{uuid4().hex}"
                await agents.client.execute_workflow(BareLocal.run, STEPS, id=id_, task_queue=agents.queue)

            await ours()
            await floor()
            pairs = [(await milliseconds(ours), await milliseconds(floor)) for _ in range(ROUNDS)]
    return ratio_of(pairs, STEPS, "quick")
