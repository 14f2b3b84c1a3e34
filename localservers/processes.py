"""A child process: it dies with its parent, writes to a bounded log, and is stopped gracefully if possible."""

import asyncio
import contextlib
import os
import resource
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

LOG_LIMIT = 10_000_000
"""Bytes after which a log starts again; one older part is kept."""

_MANY_FILES = 1_048_576
"""What stands for "unlimited"."""

_LAUNCHER = Path(__file__).with_name("launch.py")


class Child:
    """A child process of this one.

    Start it from the main thread: the kernel kills it when the *thread* that started it ends.
    """

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self.log = log

    @classmethod
    async def start(cls, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> "Child":
        """Start a process.

        Args:
            arguments: The program and its arguments.
            environment: Its complete environment.
            log: The file that its output is appended to.
        """
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Append mode, so that nothing written after trimming the log of a running process is lost.
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                str(_LAUNCHER),
                str(os.getpid()),
                *arguments,
                env=dict(environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                cwd=log.parent,
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
        """Wait until it ends, and return its exit status."""
        return await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if not self.ended:
            self._process.send_signal(number)

    async def stop(self, within: float) -> None:
        """Terminate it, and kill it if it has not ended after this many seconds."""
        self.signal(signal.SIGTERM)
        # A suspended process would not react to SIGTERM.
        self.signal(signal.SIGCONT)
        try:
            async with asyncio.timeout(within):
                await self._process.wait()
        except TimeoutError:
            self.signal(signal.SIGKILL)
            await self._process.wait()

    def last_lines(self, count: int = 5) -> str:
        """Return the end of its log."""
        with self.log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4_000))
            lines = file.read().decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-count:])


def raised_file_limit() -> int:
    """Raise the number of files that this process and its children may open as far as it may, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems say "unlimited" and refuse it.
    wanted = _MANY_FILES if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if soft == resource.RLIM_INFINITY else soft


def trim(log: Path, limit: int = LOG_LIMIT) -> None:
    """Move the content of a log that exceeds its limit to ``<log>.1``; the process that writes it is not disturbed."""
    if log.exists() and log.stat().st_size > limit:
        earlier = log.with_name(f"{log.name}.1")
        try:
            shutil.copyfile(log, earlier)
        except OSError:
            # On a full disk a part of it only takes more room.
            earlier.unlink(missing_ok=True)
            raise
        os.truncate(log, 0)
