"""``perdure tools``: what can be called, with what a second call does; MCP servers are asked for theirs."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli.commands import app
from worker.cli.tools import _arguments  # pyright: ignore[reportPrivateUsage]  what servers say is any mapping


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
    assert shown.stdout.endswith("\narguments:\n  ledger, string\n  line, string\n")
    added = CliRunner().invoke(app, ["tools", "show", "led.add"]).stdout
    assert added.endswith("\n  one, integer\n  other, integer, by default 1\n")


@pytest.mark.slow
def test_a_server_that_is_away_is_named(server: Path) -> None:
    server.write_text("no", encoding="utf-8")
    ran = CliRunner().invoke(app, ["tools", "list"])
    assert ran.exit_code == 3
    assert "error: MCP server 'led' does not answer" in ran.stderr
    assert "the server does not want to start" in " ".join(ran.stderr.split())
    assert "MCP server" not in ran.stdout
    for name in ("led.add", "led.nothing"):
        assert CliRunner().invoke(app, ["tools", "show", name]).exit_code == 3


@pytest.mark.slow
def test_a_tool_that_a_server_does_not_have_is_named() -> None:
    ran = CliRunner().invoke(app, ["tools", "show", "led.nothing"])
    assert (ran.exit_code, "has no tool 'nothing'" in ran.stdout) == (1, True)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"type": ["string", "null"], "default": None}, "  a, string or null, by default null"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "  a, integer or null, may be left out"),
        ({"enum": ["x", "y"], "description": "Which.\nMore."}, '  a, one of ["x", "y"], may be left out: Which.'),
        ({"$ref": "#/$defs/A"}, "  a, see --json, may be left out"),
        ({"anyOf": [True]}, "  a, see --json, may be left out"),
        ({"anyOf": None, "type": None}, "  a, see --json, may be left out"),
        (True, "  a, see --json, may be left out"),
    ],
    ids=["list of types", "alternatives", "choices", "reference", "anything", "nothing", "a flag"],
)
def test_an_argument_is_told_whatever_a_server_says_of_it(given: object, line: str) -> None:
    assert list(_arguments({"properties": {"a": given}, "required": None})) == [line]
    assert list(_arguments({"properties": [given]})) == []


NOISY = """
print("loaded")
from perdure import tool
@tool(effect="read")
async def look(depth: float = float("inf")) -> int:
    return 1
"""


@pytest.mark.parametrize("command", ["tools list", "tools show look", "secrets"])
def test_a_module_that_prints_as_it_is_loaded_leaves_stdout_to_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps([str(tmp_path / "noisy.py")]))
    monkeypatch.delenv("PERDURE_MCP_SERVERS")
    ran = CliRunner().invoke(app, [*command.split(), "--json"])
    assert (ran.exit_code, ran.stderr) == (0, "loaded\n")
    json.loads(ran.stdout)


def test_a_number_that_json_has_none_of_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep.py").write_text(NOISY, encoding="utf-8")
    monkeypatch.setenv("PERDURE_TOOLS", json.dumps([str(tmp_path / "deep.py")]))
    monkeypatch.delenv("PERDURE_MCP_SERVERS")
    ran = CliRunner().invoke(app, ["tools", "show", "look", "--json"])
    told = json.loads(ran.stdout, parse_constant=pytest.fail)
    assert told["arguments"]["properties"]["depth"]["default"] == "Infinity"
