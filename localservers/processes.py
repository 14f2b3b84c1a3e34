"""Owns one child process: started so that it dies with its parent, its output in a bounded log, stopped in order."""

import asyncio
import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

LOG_LIMIT = 10_000_000
"""Bytes of a log before it starts anew; one older piece is kept."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent is gone, however the parent dies; Linux alone can."""
    if sys.platform != "linux":
        return
    if _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0 or os.getppid() != parent:
        os._exit(126)


class Child:
    """A child process of this one.

    Start it from the main thread: the kernel takes the end of the *thread* that started it for its parent's.
    """

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self.log = log

    @classmethod
    async def start(cls, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> "Child":
        """Start a process.

        Args:
            arguments: The program and its arguments.
            environment: Its whole environment.
            log: Where its output is appended.
        """
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        parent = os.getpid()
        # Appending, so that trimming the log under a running process loses nothing of what it writes later.
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *arguments,
                env=dict(environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                cwd=log.parent,
                preexec_fn=lambda: _die_with(parent),
                process_group=0,
            )
        return cls(process, log)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.returncode is not None

    async def wait(self) -> int:
        """Wait until it ends, and give its status."""
        return await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if not self.ended:
            self._process.send_signal(number)

    async def stop(self, within: float) -> None:
        """End it: politely, and after this many seconds by force."""
        self.signal(signal.SIGTERM)
        # A paused process would take no notice.
        self.signal(signal.SIGCONT)
        try:
            async with asyncio.timeout(within):
                await self._process.wait()
        except TimeoutError:
            self.signal(signal.SIGKILL)
            await self._process.wait()

    def last_lines(self, count: int = 5) -> str:
        """Give the end of its log."""
        with self.log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4_000))
            lines = file.read().decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-count:])


def trim(log: Path, limit: int = LOG_LIMIT) -> None:
    """Move what a log holds to ``<log>.1`` if it has grown beyond its limit; its writer goes on as before."""
    if log.exists() and log.stat().st_size > limit:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        os.truncate(log, 0)
