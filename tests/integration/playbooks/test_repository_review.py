"""The example with a goal: a model, which says what a script says, reviews a real repository with git."""

import asyncio
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests.conftest import Servers
from tests.support.goals import agents_on, goal
from tests.support.turn_server import Asked, Call, Says

REVIEW = Path(__file__).parents[3] / "playbooks" / "repository_review"
REVIEWER = (REVIEW / "agents" / "reviewer.yaml").read_text(encoding="utf-8")
AGENT = REVIEWER.replace("name: reviewer", "name: worker") + "model: openai:test\n"


async def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    process = await asyncio.create_subprocess_exec("git", *who, *arguments, cwd=folder, stdout=asyncio.subprocess.PIPE)
    await process.communicate()
    assert process.returncode == 0


@pytest.fixture
async def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    (root / "shop.py").write_text("def total(prices):\n    return sum(prices) + 1\n", encoding="utf-8")
    await git(root, "init", "--quiet")
    await git(root, "add", "shop.py")
    await git(root, "commit", "--quiet", "-m", "Add up prices")
    monkeypatch.setenv("REVIEWED_REPOSITORY", str(root))
    return root


def script(asked: Asked) -> Says:
    match asked.turns:
        case 0:
            return Says("Looking.", (Call("list_files", {}), Call("find_text", {"text": "total"})))
        case 1:
            history, deletion = ["git", "log", "--oneline"], ["rm", "-rf", "shop.py"]
            return Says(calls=(Call("run_command", {"command": history}), Call("run_command", {"command": deletion})))
        case 2:
            change = {"path": "shop.py", "old": "sum(prices) + 1", "new": "sum(prices)", "why": "One too many."}
            report = {"text": f"# Review\n\nshop.py:2 adds one too many. History: {asked.outputs[-2]}"}
            return Says(calls=(Call("propose_change", change), Call("write_report", report)))
        case _:
            return Says("One fault: shop.py, line 2.")


@pytest.mark.slow
async def test_it_finds_reads_proposes_and_reports_and_runs_what_its_policy_lets_it(
    servers: Servers, tmp_path: Path, httpserver: HTTPServer, repository: Path
) -> None:
    installed = {"tools": ("playbooks.repository_review.tools",), "policies": (REVIEW / "policies",)}
    async with agents_on(servers, tmp_path, httpserver)(script, AGENT, settings=installed) as (one, server):
        handle = await one.start(goal("Review the repository"))
        result = await handle.result()
        await one.replay(handle)
    assert result.output == "One fault: shop.py, line 2."
    refused = server.asked[2].outputs[-1]
    assert "PRD305" in refused
    assert "commands" in refused, "the policy that stopped it is named"
    review = repository / ".review"
    assert "Add up prices" in (review / "report.md").read_text(encoding="utf-8")
    [proposal] = review.glob("*.diff")
    assert "-    return sum(prices) + 1\n+    return sum(prices)\n" in proposal.read_text(encoding="utf-8")
    assert (repository / "shop.py").read_text(encoding="utf-8").endswith("+ 1\n"), "no file of it is changed"
