"""Only the local servers and the demonstration start processes, but for git, MCP servers, and a tool's commands."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
STARTS = {
    *("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell", "Popen"),
    *(
        "fork",
        "forkpty",
        "stdio_client",
        "posix_spawn",
        "posix_spawnp",
        "system",
        "popen",
        "subprocess",
        "multiprocessing",
        "pty",
    ),
}

STARTS_MCP_SERVERS = ROOT / "perdure" / "mcp" / "connection.py"
READS_HISTORY = ROOT / "worker" / "definition_versions.py"
RUNS_COMMANDS = ROOT / "playbooks" / "repository_review" / "tools.py"


def names_in(source: str) -> set[str]:
    """Every name and attribute that a module uses, and every module that it imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
                found.add(name)
            case ast.ImportFrom(module=str(name)):
                found.add(name)
            case _:
                pass
    return found


@pytest.mark.parametrize("package", ["perdure", "activities", "workflows", "worker", "playbooks"])
def test_nothing_else_starts_a_process(package: str) -> None:
    for file in set((ROOT / package).rglob("*.py")) - {STARTS_MCP_SERVERS, READS_HISTORY, RUNS_COMMANDS}:
        assert not names_in(file.read_text()) & STARTS, file


def test_control_the_local_servers_do() -> None:
    assert "create_subprocess_exec" in names_in((ROOT / "localservers" / "processes.py").read_text())
