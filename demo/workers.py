"""Worker processes that the demonstration starts, kills and replaces."""

import signal
import sys
from pathlib import Path

from localservers.fleet import worker_environment
from localservers.processes import Child
from perdure.crashpoints import VARIABLE
from perdure.settings import Addresses, Settings

_STOPS_WITHIN = 15.0


class DemoWorker:
    """A worker process on the demonstration's own task queue; it dies with the demonstration."""

    def __init__(self, child: Child) -> None:
        self._child = child

    @classmethod
    async def start(
        cls, settings: Settings, addresses: Addresses, *, queue: str, log: Path, crash_at: str = ""
    ) -> "DemoWorker":
        """Start a worker.

        Args:
            settings: The settings that it inherits.
            addresses: The servers to use.
            queue: The task queue to serve.
            log: The file that its output goes to.
            crash_at: The commit point at which it kills itself, if any.
        """
        # No forgetting schedule: it would outlive the queue, and nobody would serve it.
        environment = worker_environment(settings, addresses) | {
            "PERDURE_TASK_QUEUE": queue,
            "PERDURE_FORGETTING_CRON": "off",
        }
        if crash_at:
            environment[VARIABLE] = crash_at
        return cls(await Child.start([sys.executable, "-m", "worker.process"], environment, log))

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether it is running."""
        return not self._child.ended

    async def died(self) -> int:
        """Wait until it ends, and return the signal that ended it, or 0."""
        return max(0, -await self._child.wait())

    def kill(self) -> None:
        """Kill it as a power cut would, without any clean-up."""
        self._child.signal(signal.SIGKILL)

    async def stop(self) -> None:
        """Let it finish its activities, and wait until it has ended."""
        await self._child.stop(_STOPS_WITHIN)
