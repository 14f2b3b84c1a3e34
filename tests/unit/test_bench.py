"""The measurements can be imported, and print the README's table; running them is ``make bench``."""

import subprocess
import sys
from pathlib import Path

from bench.table import HEADER, ROWS, markdown

BENCH = Path(__file__).parents[2] / "bench"

FIGURES = {
    "step.ms": 20.14,
    "step.floor_ms": 18.2,
    "step.ratio": 1.0649,
    "crash.lines": 25.0,
    "crash.seconds": 3.61,
}


def test_the_table_has_a_row_for_each_measured_section() -> None:
    assert markdown(FIGURES).splitlines() == [
        *HEADER,
        "| one agent step | 20.1 ms | 18.2 ms, a bare workflow of the same activities | 1.06 |",
        "| 25 steps, SIGKILL in step 13 after its effect | 25 lines, 3.6 s from restart to finished | – | – |",
    ]


def test_every_row_has_the_columns_of_the_header() -> None:
    assert {row.count("|") for row in (*HEADER, *ROWS)} == {5}


def test_importing_a_measurement_does_nothing() -> None:
    names = [f"bench.{file.stem}" for file in BENCH.glob("*.py") if file.stem != "__init__"]
    ran = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(sorted(names))}"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
