"""``perdure tools``: what can be called, with what a second call does; MCP servers are asked for theirs."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli.commands import app


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, place = tmp_path / "mcp", tmp_path / "pid"
    folder.mkdir()
    how = f"command: {sys.executable}\nargs: [-m, tests.support.mcp_server, {place}]\n"
    text = f"name: led\n{how}env: {{PYTHONPATH: {Path.cwd()}}}\ntools: {{add: read}}\n"
    (folder / "led.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PERDURE_MCP_SERVERS", json.dumps([str(folder)]))
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps(["tests.support.secret_tools"]))
    return place


def test_those_of_servers_are_listed_with_the_others() -> None:
    ran = CliRunner().invoke(app, ["tools", "list", "--json"])
    told = json.loads(ran.stdout)
    found = {one["name"]: one for one in told["tools"]}
    assert list(told["unusable"]) == ["led.with space"]
    assert ran.exit_code == 0
    assert [found[name]["effect"] for name in ("led.add", "led.append", "open_door")] == ["read", "once", "once"]
    assert found["led.add"]["arguments"]["required"] == ["one"]
    assert found["open_door"]["secrets"] == ["door"]
    shown = CliRunner().invoke(app, ["tools", "show", "led.append"])
    assert (shown.exit_code, "effect: once" in shown.stdout) == (0, True)


def test_a_server_that_is_away_is_named(server: Path) -> None:
    server.write_text("no", encoding="utf-8")
    ran = CliRunner().invoke(app, ["tools", "list"])
    assert ran.exit_code == 3
    assert "error: MCP server 'led' does not answer" in ran.stderr
    assert "the server does not want to start" in " ".join(ran.stderr.split())
    assert "MCP server" not in ran.stdout
    for name in ("led.add", "led.nothing"):
        assert CliRunner().invoke(app, ["tools", "show", name]).exit_code == 3


def test_a_tool_that_a_server_does_not_have_is_named() -> None:
    ran = CliRunner().invoke(app, ["tools", "show", "led.nothing"])
    assert (ran.exit_code, "has no tool 'nothing'" in ran.stdout) == (1, True)
