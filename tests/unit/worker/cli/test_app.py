"""What the command line says of itself."""

import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worker.cli import commands
from worker.cli.commands import app, docstring_of

PROJECT = Path(__file__).parents[4] / "pyproject.toml"


def test_it_says_its_version() -> None:
    ran = CliRunner().invoke(app, ["--version"])
    assert ran.exit_code == 0
    assert ran.stdout == f"perdure {tomllib.loads(PROJECT.read_text())['project']['version']}\n"


@pytest.mark.parametrize("command", [[], ["run"], ["policies"], ["memories", "members"]])
def test_a_flag_is_shown_without_a_type(command: list[str]) -> None:
    ran = CliRunner().invoke(app, [*command, "--help"])
    assert "--help" in ran.stdout
    assert "<bool>" not in ran.stdout


def test_what_commands_have_no_use_for_is_not_loaded() -> None:
    # Each was a tenth of a second or two of every command.
    code = (
        "import sys\nimport perdure.command\n"
        "assert 'pydantic' not in sys.modules\nimport worker.cli.tasks\n"
        "print([name for name in ('perdure.public', 'worker.telemetry', 'perdure.agent.state', 'structlog') if name in "
        "sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_help_lists_each_command_and_loads_none_of_them() -> None:
    # A second and a half, for a list that is looked at again and again.
    code = (
        "import sys; from worker.cli.commands import app\n"
        "try: app(['--help'])\n"
        "finally: print([name for name in ('pydantic', 'temporalio', 'worker.cli.tasks') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    *told, loaded = ran.stdout.splitlines()
    assert loaded == "[]"
    lines = [line.strip("│ ").split("  ", 1) for line in told if line.startswith("│")]
    assert {line[0] for line in lines if line[0]} >= {*commands.COMMANDS}
    assert all(len(line) > 1 and line[1].strip() for line in lines if line[0] in commands.COMMANDS)


@pytest.mark.parametrize("place", sorted({*commands.COMMANDS.values(), *commands.MEMORIES.values()}))
def test_what_is_read_of_a_command_is_its_docstring(place: str) -> None:
    module, _, name = place.partition(":")
    command = getattr(importlib.import_module(module), name)
    assert docstring_of(module, name) == (inspect.getdoc(command) if inspect.isfunction(command) else "")


@pytest.mark.parametrize("name", ["activities", "worker"])
def test_a_module_that_hides_a_package_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{PROJECT.parent}"}
    command = [sys.executable, "-P", "-c", "from perdure.command import main; main()", "status", "task.yaml"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert ran.returncode == 2
    assert f"{tmp_path}/{name}.py: hides Perdure's own package {name}" in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr
    ran = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    error = json.loads(ran.stdout)["error"]
    assert (ran.returncode, ran.stderr) == (2, "")
    assert (error["code"], error["field"], error["place"]) == ("PRD100", f"{tmp_path}/{name}.py", "")
    assert error["fix"].startswith("rename it, or take its folder off PYTHONPATH")
    assert error["message"] == f"{error['field']}: {error['problem']} ({error['fix']})"


# Where the commands are loaded, somebody presses Ctrl-C.
INTERRUPTED = """
import builtins, os, signal

load = builtins.__import__


def interrupted(name, *args, **kwargs):
    if name == "worker.cli.commands":
        os.kill(os.getpid(), signal.SIGINT)
    return load(name, *args, **kwargs)


builtins.__import__ = interrupted
from perdure.command import main

main()
"""


def test_ctrl_c_while_the_commands_are_loaded_ends_it_in_silence() -> None:
    process = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (-signal.SIGINT, "", "")
