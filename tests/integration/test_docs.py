"""The code that the documentation shows runs on the real servers."""

import re
from pathlib import Path
from typing import Any

from tests.conftest import Servers
from tests.deployment import deployment

GREETING = """
name: greeting
inputs: {name: string}
steps: [{id: say, tool: echo, args: {value: "Hello ${inputs.name}"}}]
output: "${steps.say.output}"
"""


CODE = re.findall(r"^```python\n(.*?)^```$", Path("docs/temporal.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


OWN_WORKFLOW = Path("tests/support/own_workflow.py").read_text("utf-8")


async def test_a_task_is_started_as_any_temporal_user_would(servers: Servers, tmp_path: Path) -> None:
    code, own = CODE
    names: dict[str, Any] = {}
    exec(compile(code, "docs/temporal.md", "exec"), names)
    (tmp_path / "greeting.yaml").write_text(GREETING, encoding="utf-8")
    settings = {"tools": ("tests.support.tools",), "skills": (tmp_path,)}
    async with deployment(servers, tmp_path / "home", settings=settings) as here:
        result = await names["greet"](servers.temporal, here.queue)
    assert result.output == "Hello Ada"
    assert own == OWN_WORKFLOW, "which runs in tests/integration/temporal/test_memory.py"
