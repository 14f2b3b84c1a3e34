"""A worker that begins anew whenever code of one's own has changed."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from perdure.values.tasks import TaskResult
from tests.conftest import Servers
from tests.integration.worker.cli.installation import Installation, installation

TOOL = '''
from helper import FACTOR
from perdure import tool

@tool(effect="read")
async def double(number: int) -> int:
    """Double a number."""
    return number * FACTOR
'''
SKILL = "name: doubling\nsteps: [{id: a, tool: double, args: {number: 3}}]\noutput: '${steps.a.output}'\n"


async def output(given: Installation) -> object:
    file = given.write("task.yaml", f"task_id: t{uuid4().hex[:10]}\nuser_id: ada\nskill: doubling\n")
    ran = await given.perdure("run", file, "--json")
    assert ran.status == 0, ran.err
    return TaskResult.model_validate_json(ran.out).output


@pytest.mark.slow
async def test_a_worker_serves_what_its_tools_say_now(servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(TOOL)
    helper = tmp_path / "helper.py"
    helper.write_text("FACTOR = 2\n")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/doubling.yaml").write_text(SKILL)
    how = {"skills": (tmp_path / "skills",), "tools": (str(tmp_path / "shop.py"),)}
    async with installation(servers, tmp_path, **how) as given:
        worker = await given.start("worker", "--reload", PYTHONPATH=str(tmp_path))
        await worker.says("worker ready")
        assert await output(given) == 6

        helper.write_text("FACTOR = 20\n")
        begun = json.loads(await worker.says("worker begins anew"))
        assert begun["changed"] == str(helper)
        await worker.says("worker ready")
        assert await output(given) == 60

        (tmp_path / "shop.py").write_text(TOOL.replace("return", "retrun"))
        assert "PRD100 tools" in await worker.says("error: ")
        (tmp_path / "shop.py").write_text(TOOL.replace("* FACTOR", "* FACTOR + 1"))
        await worker.says("worker ready")
        assert await output(given) == 61
        worker.process.terminate()
        assert (await worker.ended()).status == 0
