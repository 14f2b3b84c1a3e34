"""A command whose output goes nowhere says so in one line or not at all, and never with a traceback."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import pytest

FULL = Path("/dev/full")
PROGRAM = (sys.executable, "-c", "from perdure.command import main; main()")
COMMANDS = ("--version", "--help", "schema skill", "statu --json")


def run(
    *command: str, stdout: int | IO[bytes] = subprocess.PIPE, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env=os.environ | (env or {})
    )


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_full_disk_one_line_says_why(command: str, unbuffered: str) -> None:
    with FULL.open("wb") as full:
        ran = run(*PROGRAM, *command.split(), stdout=full, env={"PYTHONUNBUFFERED": unbuffered})
    assert ran.returncode == (2 if command == "statu --json" else 1)
    why = "No space left on device (make room, or send it elsewhere)"
    assert ran.stderr == f"error: the output could not be written: {why}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_where_stdout_is_closed_it_does_what_it_does_in_silence(command: str) -> None:
    ran = run("sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, *command.split())
    assert (ran.returncode, ran.stderr) == (2 if command == "statu --json" else 0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_end_of_a_pipe_changes_no_exit_status(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = run(*PROGRAM, *command.split(), stdout=writing)
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (2 if command == "statu --json" else 0, "")


@pytest.mark.parametrize("columns", ["0", *(pytest.param(one, marks=pytest.mark.slow) for one in ("abc", "-5", "²"))])
def test_a_width_that_nothing_can_be_printed_in_is_not_known(columns: str) -> None:
    ran = run(*PROGRAM, "statu", env={"COLUMNS": columns})
    assert ran.returncode == 2
    assert "there is no command 'statu'" in ran.stderr
    ran = run(*PROGRAM, "run", "nowhere.yaml", env={"COLUMNS": columns})
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: PRD101 nowhere.yaml: cannot be read")


def test_a_width_of_the_terminals_own_counts() -> None:
    narrow, wide = (run(*PROGRAM, "--help", env={"COLUMNS": columns}).stdout for columns in ("60", "100"))
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
