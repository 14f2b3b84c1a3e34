"""What the command line says of itself."""

import tomllib
from pathlib import Path

from typer.testing import CliRunner

from worker.cli.app import app

PROJECT = Path(__file__).parents[4] / "pyproject.toml"


def test_it_says_its_version() -> None:
    ran = CliRunner().invoke(app, ["--version"])
    assert ran.exit_code == 0
    assert ran.stdout == f"perdure {tomllib.loads(PROJECT.read_text())['project']['version']}\n"
