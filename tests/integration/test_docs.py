"""The code that the documentation shows runs on the real servers."""

import re
from pathlib import Path
from typing import Any

from tests.conftest import Servers
from tests.deployment import deployment
from tests.support.harness import bench

GREETING = """
name: greeting
inputs: {name: string}
steps: [{id: say, tool: echo, args: {value: "Hello ${inputs.name}"}}]
output: "${steps.say.output}"
"""


EXPECTING = """
steps:
  - {id: paid, wait: {event: "paid 7"}}
  - {id: again, wait: {event: "paid 7", deadline: 1s, otherwise: none}}
output: "${steps.paid.output}"
expect: "${steps.again.output == 'none'}"
"""

CODE = re.findall(r"^```python\n(.*?)^```$", Path("docs/temporal.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


OWN_WORKFLOW = Path("tests/support/own_workflow.py").read_text("utf-8")


async def test_a_task_is_started_as_any_temporal_user_would(servers: Servers, tmp_path: Path) -> None:
    code, own, _ = CODE
    names: dict[str, Any] = {}
    exec(compile(code, "docs/temporal.md", "exec"), names)
    (tmp_path / "greeting.yaml").write_text(GREETING, encoding="utf-8")
    settings = {"tools": ("tests.support.tools",), "skills": (tmp_path,)}
    async with deployment(servers, tmp_path / "home", settings=settings) as here:
        result = await names["greet"](servers.temporal, here.queue)
    assert result.output == "Hello Ada"
    assert own == OWN_WORKFLOW, "which runs in tests/integration/temporal/test_memory.py"


async def test_an_event_is_delivered_by_any_temporal_client(servers: Servers, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(CODE[2], "docs/temporal.md", "exec"), names)
    async with bench(servers, tmp_path) as agents:
        handle = await agents.start(agents.task(agents.skill(EXPECTING)))
        for _ in range(2):
            assert (await names["paid"](servers.temporal, handle.id, "7", 20, "payment-4711")).kept in (0, 1)
        assert (await handle.result()).output == {"amount": 20}
