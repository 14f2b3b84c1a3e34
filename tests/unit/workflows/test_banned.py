"""The linter keeps workflows, which run outside Temporal's sandbox, from what differs in a replay."""

import subprocess
import sys

import pytest

ASKS = {
    "from datetime import datetime": "datetime.now()",
    "import datetime": "datetime.date.today()",
    "import time": "time.time()",
    "import random": "random.random()",
    "import uuid": "uuid.uuid4()",
    "from uuid import uuid4": "uuid4()",
    "import os": "os.environ",
    "import threading": "threading.Thread()",
    "import asyncio": "asyncio.wait([])",
    "from pathlib import Path": "Path()",
    "import logging": "logging.root",
    "from perdure.stores import redis": "redis",
    "from temporalio import activity": "activity.info()",
}


def refused(file: str, code: str) -> bool:
    linter = [sys.executable, "-m", "ruff", "check", "--output-format", "concise", "--stdin-filename", file, "-"]
    return "TID251" in subprocess.run(linter, input=code, text=True, stdout=subprocess.PIPE, check=False).stdout


@pytest.mark.parametrize("imported", ASKS)
@pytest.mark.parametrize("room", ["workflows", "perdure/agent", "perdure/agent/steps"])
def test_a_workflow_asks_nothing_that_differs_in_a_replay(room: str, imported: str) -> None:
    assert refused(f"{room}/new.py", f"{imported}\n\nFOUND = {ASKS[imported]}\n")


def test_it_may_use_the_rest() -> None:
    assert not refused("workflows/new.py", "import asyncio\n\n\nFOUND = asyncio.Event()\n")
    assert not refused("perdure/agent/steps/once.py", "import time\n\n\nFOUND = time.time()\n")
