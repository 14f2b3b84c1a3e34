"""Mutates the pure modules one place at a time, and counts how many mutants a unit test notices.

Which modules and tests, and what is no mutant, stands in ``pyproject.toml`` under ``tool.mutmut``. Environment
variables: ``SIZE``, how many tenths of each function's mutants to try (one by default), and ``SEED``, which ones.
The same code gives the same figures in each run: no test draws an example at random, and nothing is kept from the run
before. Merges the share that was killed into ``bench/results.json`` and the README; exits with 1 where
the share is below its target.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.table import RESULTS, publish
from bench.targets import AT_LEAST, verdict

ROOT = Path(__file__).parent.parent
MUTANTS = ROOT / "mutants"
LOG = MUTANTS / "run.log"

KILLED = frozenset({1, 3, 24, -24, 36, 152, 255})
"""mutmut's codes for a mutant that fails a test, breaks pytest itself, or exceeds its time."""


def chosen(size: int, seed: int) -> list[str]:
    """Return the patterns of the mutants to try: those whose number ends in one of so many digits."""
    return [f"*__mutmut_*{digit}" for digit in sorted(random.Random(seed).sample(range(10), size))]


def try_all(patterns: list[str]) -> dict[str, int]:
    """Make the mutants and try those that a pattern names; return mutmut's code for each."""
    shutil.rmtree(MUTANTS, ignore_errors=True)
    MUTANTS.mkdir()
    with LOG.open("w") as log:
        command = [str(Path(sys.executable).with_name("mutmut")), "run", *patterns]
        failed = subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    if failed:
        sys.stderr.write(f"error: mutmut failed; the end of {LOG}:\n{LOG.read_text()[-2_000:]}\n")
        raise SystemExit(2)
    found: dict[str, int | None] = {}
    for meta in sorted(MUTANTS.glob("perdure/**/*.py.meta")):
        found |= json.loads(meta.read_text())["exit_code_by_key"]
    return {name: code for name, code in found.items() if code is not None}


def figures_of(codes: Mapping[str, int]) -> dict[str, float | list[str]]:
    """Return what is published."""
    survivors = sorted(name for name, code in codes.items() if code not in KILLED)
    return {
        "mutants.killed": round(1 - len(survivors) / len(codes), 4),
        "mutants.total": len(codes),
        "mutants.survivors": survivors,
    }


def main() -> int:
    """Try, merge and print."""
    codes = try_all(chosen(int(os.environ.get("SIZE") or 1), int(os.environ.get("SEED") or 1)))
    figures = figures_of(codes)
    known: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    survivors, killed = figures.pop("mutants.survivors"), figures["mutants.killed"]
    RESULTS.write_text(json.dumps(dict(sorted((known | figures).items())), indent=2) + "\n")
    publish()
    assert isinstance(survivors, list)
    assert isinstance(killed, float)
    for name in survivors:
        sys.stdout.write(f"survived: {name}\n")
    sys.stdout.write(f"killed {killed:.1%} of {len(codes):,}: {verdict('mutants.killed', killed)}\n")
    sys.stdout.write("What one changes: .venv/bin/mutmut show NAME\n")
    return int(killed < AT_LEAST["mutants.killed"])


if __name__ == "__main__":
    sys.exit(main())
