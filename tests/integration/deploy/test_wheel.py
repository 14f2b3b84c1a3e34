"""The wheel is complete: installed alone in an empty folder, it has every package and every data file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DATA = ("localservers/modules/temporal/go.mod", "localservers/modules/temporal/go.sum", "playbooks/skills")


def run(*command: str, cwd: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    ended = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
def test_the_installed_wheel_runs_without_the_sources(tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path), cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    there = tmp_path / "installed"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(there), str(wheel), cwd=tmp_path)

    for name in DATA:
        assert (there / name).exists(), name
    program = "import worker.cli.app as app; print(app.__file__); app.main()"
    out = run(sys.executable, "-c", program, "--help", cwd=tmp_path, PYTHONPATH=str(there))
    assert out.startswith(str(there)), "the sources were used instead"
    assert "demo" in out
