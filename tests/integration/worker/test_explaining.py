"""What a task had to do with memory is told afterwards: what it recalled, wrote and left, and why."""

from pathlib import Path

import pytest

from tests.conftest import Servers
from tests.support.harness import bench
from worker.cli.explain import show
from worker.gateway import Gateway

SKILL = """
steps:
  - id: learn
    tool: echo
    args: {value: "Kim leads the team."}
    remember:
      - {memory: "${output}"}
      - {memory: "Perhaps Lee will follow.", confidence: 0.2}
      - {lane: pattern, key: "lead", payload: {name: Kim}}
    critical: true
  - id: look
    recall: {text: "Who leads the team?"}
"""


async def test_a_task_says_what_it_recalled_wrote_and_ignored_and_why(servers: Servers, tmp_path: Path) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(SKILL))
        await (await agents.start(task)).result()
        assert agents.deployed is not None
        async with Gateway(agents.deployed.settings, servers) as gateway:
            found = await gateway.explain(task.workflow_id)
    [receipt] = found.receipts
    assert [(item.decision.value, bool(item.reason)) for item in receipt.items] == [
        ("insert", False),
        ("reject", True),
        ("insert", False),
    ]
    assert "is below 0.7" in receipt.items[1].reason
    [recall] = found.recalls
    assert "Kim leads the team." in {found.texts[identifier] for identifier in recall.ids}


async def test_it_is_printed_for_a_person(servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with bench(servers, tmp_path) as agents:
        task = agents.task(agents.skill(SKILL))
        await (await agents.start(task)).result()
        assert agents.deployed is not None
        async with Gateway(agents.deployed.settings, servers) as gateway:
            show(await gateway.explain(task.workflow_id))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("look recalled") for line in lines)
    assert any(line.startswith("wrote (insert)") and "Kim leads the team." in line for line in lines)
    assert any(line.startswith("ignored (reject)") and "is below 0.7" in line for line in lines)
