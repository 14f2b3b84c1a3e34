"""Quick steps that end in another order than they began: a replay gives each its own outcome."""

from pathlib import Path

import pytest

from perdure import Answer
from perdure.names import ANSWER
from tests.conftest import Servers
from tests.support.harness import bench
from tests.support.waiting import question_of

pytestmark = pytest.mark.slow

LANES, STEPS = 5, 4
SECONDS = (
    0.02,
    0.0,
    0.05,
    0.01,
    0.03,
    0.0,
    0.0,
    0.04,
    0.01,
    0.02,
    0.0,
    0.03,
    0.05,
    0.0,
    0.01,
    0.0,
    0.02,
    0.0,
    0.01,
    0.0,
)
"""After how long each ends, by lane and step: no two lanes at the same pace."""
NAMES = [f"s{lane}_{step}" for lane in range(LANES) for step in range(STEPS)]


def skill() -> str:
    steps = [
        f"{{id: {name}, tool: echo_late_quickly, args: {{value: {name}, seconds: {seconds}}}}}"
        for name, seconds in zip(NAMES, SECONDS, strict=True)
    ]
    lanes = [f"[{', '.join(steps[first : first + STEPS])}]" for first in range(0, len(steps), STEPS)]
    output = ", ".join(f"steps.{name}.output" for name in NAMES)
    return f"""
steps:
  - parallel: [{", ".join(lanes)}]
  - {{id: last, tool: echo, args: {{value: 1}}, approve: "Go on?"}}
output: "${{[{output}]}}"
"""


@pytest.mark.parametrize(("cache", "after"), [(1000, 4000), (0, 30)], ids=["kept", "replayed, and rolled over"])
async def test_each_keeps_its_own_outcome(servers: Servers, tmp_path: Path, cache: int, after: int) -> None:
    async with bench(servers, tmp_path, max_cached_workflows=cache, continue_after=after) as agents:
        handle = await agents.start(agents.task(agents.skill(skill())))
        question = await question_of(handle)
        await handle.execute_update(ANSWER, Answer(question_id=question.id, value="yes", by="anna"))
        result = await handle.result()
        await agents.replay(handle)
    assert result.output == NAMES
