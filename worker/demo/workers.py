"""Worker processes that the demonstration starts, kills and replaces."""

import asyncio
import signal
import sys
from pathlib import Path

from perdure.crashpoints import VARIABLE
from worker.servers.fleet import worker_environment
from worker.settings import Addresses, Settings


class DemoWorker:
    """One worker process on the demonstration's own task queue."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(
        cls, settings: Settings, addresses: Addresses, *, queue: str, log: Path, crash_at: str = ""
    ) -> "DemoWorker":
        """Start one.

        Args:
            settings: As everywhere.
            addresses: The servers to use.
            queue: The task queue to serve.
            log: Where its output goes.
            crash_at: The commit point at which it kills itself; empty: none.
        """
        # A sweep schedule on a queue that is gone tomorrow would be a trap.
        environment = worker_environment(settings, addresses) | {
            "PERDURE_TASK_QUEUE": queue,
            "PERDURE_FORGETTING_CRON": "off",
        }
        if crash_at:
            environment[VARIABLE] = crash_at
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "worker.process", stdout=output, stderr=output, env=environment
            )
        return cls(process)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    async def died(self) -> int:
        """Wait for its end; gives the signal that ended it, or 0."""
        return max(0, -await self._process.wait())

    def kill(self) -> None:
        """Kill it as a power cut would: no clean-up, no goodbye."""
        self._process.send_signal(signal.SIGKILL)

    async def stop(self) -> None:
        """Let it finish what it holds, and end."""
        if self.alive:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), 15)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
