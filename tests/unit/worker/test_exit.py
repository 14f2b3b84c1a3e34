"""A process that used Temporal's client ends before the interpreter is torn down, and says how it went."""

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, sys
from worker.exit import leave_after

atexit.register(print, "torn down")

def main():
    print("done")
    {ending}

leave_after(main)
"""


@pytest.mark.parametrize(
    ("ending", "status", "error"),
    [
        ("return None", 0, ""),
        ("return 3", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(2)", 2, ""),
        ("sys.exit('no such file')", 1, "no such file\n"),
    ],
)
def test_it_leaves_with_its_status_and_all_it_wrote_but_no_tearing_down(ending: str, status: int, error: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(ending=ending)], capture_output=True, text=True, check=False
    )
    # Through a pipe, "done" is held back until something flushes it.
    assert (ended.returncode, ended.stdout, ended.stderr) == (status, "done\n", error)
