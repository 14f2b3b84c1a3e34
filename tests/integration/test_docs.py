"""The code that the documentation shows runs on the real servers."""

import re
from pathlib import Path
from typing import Any

import pytest

from perdure import Actor, ActorKind, Answer
from tests.conftest import Servers
from tests.deployment import deployment
from tests.support.harness import bench
from tests.support.modules import unloaded
from tests.support.pages import blocks
from tests.support.waiting import question_of
from worker.cli.task_files import read_task
from worker.gateway import Gateway

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
def order(*sku, key):
    return f"order {key[:8]}"
"""


async def test_the_files_of_the_readme_order_what_a_person_approves(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, skill, task = (block.text for block in README)
    (tmp_path / "skills").mkdir()
    for name, text in {"tools.py": code, "shop.py": SHOP, "skills/restock.yaml": skill, "restock.yaml": task}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    unloaded(monkeypatch, "shop")
    settings = {"tools": (str(tmp_path / "tools.py"),), "skills": (tmp_path / "skills",)}
    by = Actor(kind=ActorKind.PERSON, id="ada")
    async with (
        deployment(servers, tmp_path / "home", settings=settings) as here,
        Gateway(here.settings, servers) as perdure,
    ):
        wanted = read_task(tmp_path / "restock.yaml")
        await perdure.start(wanted, by=by)
        question = await question_of(here.client.get_workflow_handle(wanted.workflow_id))
        assert (question.id, question.text) == ("order", "Order bolts?")
        await perdure.answer(wanted.workflow_id, Answer(question_id=question.id, value="yes"), by=by)
        result = await perdure.result(wanted.workflow_id, by=by)
    assert (result.status, str(result.output)[:6]) == ("completed", "order ")


async def test_an_event_is_delivered_by_any_temporal_client(servers: Servers, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(CODE[2], "docs/temporal.md", "exec"), names)
    async with bench(servers, tmp_path) as agents:
        handle = await agents.start(agents.task(agents.skill(EXPECTING)))
        for _ in range(2):
            assert (await names["paid"](servers.temporal, handle.id, "7", 20, "payment-4711")).kept in (0, 1)
        assert (await handle.result()).output == {"amount": 20}
