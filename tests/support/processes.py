"""Worker processes that tests kill, stop and wake."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client

from perdure.crashpoints import VARIABLE
from perdure.settings import Addresses
from perdure.temporal.plugin import Plugin
from tests.support.harness import Bench

_ADDRESSES = ("temporal", "weaviate_url", "weaviate_grpc_port", "redis_url")


class Processes:
    """Starts workers of one task queue."""

    def __init__(self, servers: Addresses, folder: Path, queue: str, continue_after: int) -> None:
        self._settings = {
            "servers": {
                **{name: getattr(servers, name) for name in _ADDRESSES},
                "weaviate_api_key": servers.weaviate_api_key and servers.weaviate_api_key.get_secret_value(),
            },
            "folder": str(folder),
            "queue": queue,
            "continue_after": continue_after,
        }
        self._started: list[asyncio.subprocess.Process] = []

    async def start(self, crash_at: str = "", **worker: Any) -> asyncio.subprocess.Process:
        """Start a worker, armed or not and with options of its own, and wait until it polls."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.support.worker_main",
            json.dumps({**self._settings, "worker": worker}),
            env={**os.environ, VARIABLE: crash_at, "PYTHONHASHSEED": str(len(self._started) + 1)},
            stdout=asyncio.subprocess.PIPE,
        )
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
    servers: Addresses, folder: Path, *, continue_after: int = 0
) -> AsyncGenerator[tuple[Processes, Bench]]:
    """Return a queue without a worker, and the means to start some."""
    queue = f"q-{uuid4().hex[:12]}"
    client = await Client.connect(servers.temporal, plugins=[Plugin()])
    group = Processes(servers, folder, queue, continue_after)
    try:
        yield group, Bench(client=client, queue=queue, folder=folder)
    finally:
        await group.stop()
