"""Worker processes that tests kill, stop and wake."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from temporalio.client import Client

from localservers.fleet import worker_environment
from localservers.processes import Child
from perdure.crashpoints import VARIABLE
from perdure.settings import Addresses, Settings
from perdure.temporal.plugin import Plugin
from tests.support.forks import Forked, fork
from tests.support.harness import Bench

Process = asyncio.subprocess.Process | Forked

_ADDRESSES = ("temporal", "weaviate_url", "weaviate_grpc_port", "redis_url")


HASH_SEEDS = ("1", "2")
"""Workers take turns: a set's order must decide nothing, and one process never has the order of the one before it."""


class Processes:
    """Starts workers of one task queue."""

    def __init__(
        self, servers: Addresses, folder: Path, queue: str, continue_after: int, *, from_the_beginning: bool = False
    ) -> None:
        self._settings = {
            "servers": {
                **{name: getattr(servers, name) for name in _ADDRESSES},
                "weaviate_api_key": servers.weaviate_api_key and servers.weaviate_api_key.get_secret_value(),
            },
            "folder": str(folder),
            "queue": queue,
            "continue_after": continue_after,
        }
        self._from_the_beginning = from_the_beginning
        self._started: list[Process] = []

    async def start(self, crash_at: str = "", **worker: Any) -> Process:
        """Start a worker, armed or not and with options of its own, and wait until it polls."""
        arguments = json.dumps({**self._settings, "worker": worker})
        seed = HASH_SEEDS[len(self._started) % 2]
        environment = {**os.environ, VARIABLE: crash_at, "PYTHONHASHSEED": seed}
        if self._from_the_beginning:
            process: Process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.support.worker_main", arguments),
                env=environment,
                stdout=asyncio.subprocess.PIPE,
            )
        else:
            main = "tests.support.worker_main:main"
            process = await fork(main, arguments, environment=environment, folder=Path.cwd(), hash_seed=seed)
        self._started.append(process)
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        return process

    async def stop(self) -> None:
        """Kill what is left."""
        for process in self._started:
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            await process.wait()
            if process.stdout is not None:
                await process.stdout.read()


@asynccontextmanager
async def processes(
    servers: Addresses, folder: Path, *, continue_after: int = 0, from_the_beginning: bool = False
) -> AsyncGenerator[tuple[Processes, Bench]]:
    """Return a queue without a worker, and the means to start some: forks of a process that has its libraries, or from
    the beginning, where it counts how long that takes.
    """
    queue = f"q-{uuid4().hex[:12]}"
    client = await Client.connect(servers.temporal, plugins=[Plugin()])
    group = Processes(servers, folder, queue, continue_after, from_the_beginning=from_the_beginning)
    try:
        yield group, Bench(client=client, queue=queue, folder=folder)
    finally:
        await group.stop()


async def start_mortal(settings: Settings, addresses: Addresses, log: Path, *, crash_at: str = "") -> Child:
    """Start a worker as the demonstration does, but as a fork."""
    # No forgetting schedule: it would outlive the queue, and nobody would serve it.
    variables = worker_environment(settings.changed(forgetting_cron="off"), addresses)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("ab") as output:
        forked = await fork(
            "worker.process:main", environment=variables | {VARIABLE: crash_at}, folder=log.parent, output=output
        )
    return Child(cast("asyncio.subprocess.Process", forked), log)
