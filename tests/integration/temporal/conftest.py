"""What the tests of Temporal's own clients share."""

import fcntl
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from perdure.names import TASK_QUEUE
from tests.conftest import HOME_VARIABLE


@pytest.fixture
def default_queue() -> Generator[str]:
    """The queue of those who name none. All processes of a run share it, so one of them serves it at a time."""
    with (Path(os.environ[HOME_VARIABLE]) / "default-queue.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield TASK_QUEUE
