"""A worker in a process of its own, to be killed: ``python -m tests.support.worker_main`` with its settings as JSON."""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from perdure.stores.redis.claims import Claim
from perdure.stores.weaviate.writes import Writes
from tests.conftest import Servers
from tests.support.harness import bench


def _die_in_a_write(seconds: float) -> None:
    """Have the first write to Weaviate followed by SIGKILL, at a moment at which Weaviate works on it."""
    to_its_end = Writes._to_its_end  # pyright: ignore[reportPrivateUsage]

    async def mortal(self: Writes, write: Coroutine[Any, Any, None]) -> None:
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
        await to_its_end(self, write)

    Writes._to_its_end = mortal  # pyright: ignore[reportPrivateUsage]


async def main() -> None:
    settings = json.loads(sys.argv[1])
    if settings["worker"].pop("without_deadline", 0):
        Claim.left = lambda self: 60.0  # the control: an attempt that trusts a deadline that has passed
    if milliseconds := settings["worker"].pop("killed_in_a_write_after", 0):
        _die_in_a_write(milliseconds / 1000)
    async with bench(
        Servers(**settings["servers"]),
        Path(settings["folder"]),
        queue=settings["queue"],
        continue_after=settings["continue_after"],
        **settings["worker"],
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
