"""The command line answers promptly: what a person waits for is not the import of libraries."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.worker.cli.installation import Installation

pytestmark = [pytest.mark.timed, pytest.mark.slow]

ROUNDS = 7

LIBRARIES = "import pydantic_settings, temporalio.client, typer.main, typer.rich_utils"
"""What no command can do without that asks Temporal. On a machine where these alone take longer, a second is none."""


def seconds(installed: Installation, *arguments: str) -> float:
    """Return the median time of a command from its very beginning, after one that leaves its compiled files."""
    return _median(installed, str(Path(sys.executable).with_name("perdure")), *arguments)


def _median(installed: Installation, *command: str) -> float:
    took: list[float] = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        subprocess.run(command, env=installed.environment, cwd=installed.folder, capture_output=True, check=True)
        took.append(time.perf_counter() - began)
    return statistics.median(took[1:])


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_needs_no_server_is_said_at_once(installed: Installation, option: str) -> None:
    assert seconds(installed, option) < 0.4


async def test_where_a_task_is_is_said_within_a_second(installed: Installation) -> None:
    file, _ = installed.audit("nodeenv==1.12.0")
    assert (await installed.perdure("run", file, "--detach")).status == 0
    assert seconds(installed, "status", file) < max(0.8, 1.5 * _median(installed, sys.executable, "-c", LIBRARIES))
    assert (await installed.perdure("cancel", file)).status == 0
