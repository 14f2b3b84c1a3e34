"""What the command line says of itself."""

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

from typer.testing import CliRunner

from worker.cli.commands import app

PROJECT = Path(__file__).parents[4] / "pyproject.toml"


def test_it_says_its_version() -> None:
    ran = CliRunner().invoke(app, ["--version"])
    assert ran.exit_code == 0
    assert ran.stdout == f"perdure {tomllib.loads(PROJECT.read_text())['project']['version']}\n"


# Where the commands are loaded, somebody presses Ctrl-C.
INTERRUPTED = """
import builtins, os, signal

load = builtins.__import__


def interrupted(name, *args, **kwargs):
    if name == "worker.cli.commands":
        os.kill(os.getpid(), signal.SIGINT)
    return load(name, *args, **kwargs)


builtins.__import__ = interrupted
from worker.cli.app import main

main()
"""


def test_ctrl_c_while_the_commands_are_loaded_ends_it_in_silence() -> None:
    process = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (-signal.SIGINT, "", "")
