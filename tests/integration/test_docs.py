"""The code that the documentation shows runs on the real servers."""

import asyncio
import re
from pathlib import Path
from typing import Any

from temporalio.service import RPCError

from perdure import AgentTask, Answer
from tests.conftest import Servers
from tests.deployment import deployment
from tests.support.harness import bench
from tests.support.pages import blocks
from tests.support.waiting import question_of, until

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


README = [block for block in blocks(Path("README.md")) if block.language in ("python", "yaml")]

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


SHOP = """
class shop:
    made = []
    find = order = staticmethod(lambda *sku, key: f"order {key[:8]}")


"""


async def test_the_twelve_lines_of_the_readme_order_what_a_person_approves(servers: Servers, tmp_path: Path) -> None:
    code, skill = (block.text for block in README)
    (tmp_path / "restock.yaml").write_text(skill, encoding="utf-8")
    (tmp_path / "shop.py").write_text(SHOP + code, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    settings = {"tools": (str(tmp_path / "shop.py"),), "skills": (tmp_path,)}
    async with deployment(servers, tmp_path / "home", settings=settings) as here:
        running = asyncio.create_task(names["restock"](here.client, here.queue))
        task = AgentTask(task_id="restock-1", user_id="ada", skill="restock", inputs={"sku": "bolts"})
        handle = here.client.get_workflow_handle(task.workflow_id)

        async def begun() -> bool:
            try:
                return bool(await handle.describe())
            except RPCError:
                return False

        await until(begun, bool)
        question = await question_of(handle)
        assert question.text == "Order bolts?"
        await handle.execute_update("answer", Answer(question_id=question.id, value="yes"))
        result = await running
    assert (result.status, result.output[:6]) == ("completed", "order ")


async def test_an_event_is_delivered_by_any_temporal_client(servers: Servers, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(CODE[2], "docs/temporal.md", "exec"), names)
    async with bench(servers, tmp_path) as agents:
        handle = await agents.start(agents.task(agents.skill(EXPECTING)))
        for _ in range(2):
            assert (await names["paid"](servers.temporal, handle.id, "7", 20, "payment-4711")).kept in (0, 1)
        assert (await handle.result()).output == {"amount": 20}
