import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import clean_settings
from worker.settings import Settings

PROGRAM = """
import typer
from worker.cli.servers import down, up
app = typer.Typer()
app.command()(up)
app.command()(down)
app()
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return clean_settings(tmp_path / "home", weaviate_url="http://127.0.0.1:9")


def perdure(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | settings.environment() | {"TEMPORAL_ADDRESS": "127.0.0.1:9"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_up_and_down_say_what_they_do(settings: Settings) -> None:
    try:
        first = perdure(settings, "up", "--no-worker")
        assert first.returncode == 0, first.stderr
        assert "redis is ready on port" in first.stderr
        assert "stop them with: perdure down" in first.stdout

        second = perdure(settings, "up", "--no-worker", "--json")
        assert "attached to the servers" in second.stderr
        assert json.loads(second.stdout)["redis_url"].startswith("redis://127.0.0.1:")
    finally:
        stopped = perdure(settings, "down")
    assert stopped.stdout == "stopped\n"
    assert json.loads(perdure(settings, "down", "--json").stdout) == {"stopped": False}


def test_a_bad_setting_is_one_line(settings: Settings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERDURE_REDIS", "redis://h")
        failed = perdure(settings, "up")

    assert failed.returncode == 2
    assert "did you mean PERDURE_REDIS_URL?" in failed.stderr
    assert "Traceback" not in failed.stderr
