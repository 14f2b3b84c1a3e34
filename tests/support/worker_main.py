"""A worker in a process of its own, to be killed: ``python -m tests.support.worker_main`` with its settings as JSON."""

import asyncio
import json
import sys
from pathlib import Path

from perdure.stores.redis.claims import Claim
from tests.conftest import Servers
from tests.support.harness import bench


async def main() -> None:
    settings = json.loads(sys.argv[1])
    if settings["worker"].pop("without_deadline", 0):
        Claim.left = lambda self: 60.0  # the control: an attempt that trusts a deadline that has passed
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
