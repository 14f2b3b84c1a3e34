"""Processes that are forks of one that has imported what takes long; see ``fork_server``."""

import asyncio
import atexit
import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import IO


@functools.cache
def fork_server(hash_seed: str) -> Path:
    """Return the socket of a server of forks, which all have its order of sets; it ends with this process."""
    path = Path(tempfile.mkdtemp(prefix="perdure-forks-"), "socket")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.support.fork_server", str(path)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert server.stdin
    assert server.stdout
    assert server.stdout.readline() == b"ready\n"

    def end() -> None:
        with server:
            pass
        shutil.rmtree(path.parent)

    atexit.register(end)
    return path


class Forked:
    """A fork, with what the tests use of ``asyncio.subprocess.Process``."""

    def __init__(self, pid: int, status: Awaitable[int], stdout: asyncio.StreamReader | None) -> None:
        self.pid = pid
        self.stdout = stdout
        self._status = asyncio.ensure_future(status)

    @property
    def returncode(self) -> int | None:
        """Its exit status; None until it has ended."""
        return self._status.result() if self._status.done() else None

    async def wait(self) -> int:
        """Wait until it ends, and return its exit status."""
        return await asyncio.shield(self._status)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            # It may have ended, and not have been told yet.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send it SIGTERM, unless it has ended."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send it SIGKILL, unless it has ended."""
        self.send_signal(signal.SIGKILL)


async def fork(
    function: str,
    *arguments: str,
    environment: Mapping[str, str],
    folder: Path,
    output: IO[bytes] | None = None,
    hash_seed: str = "random",
) -> Forked:
    """Run a function in a fork, which is killed when this process ends.

    Args:
        function: Its module and name, as ``worker.process:main``.
        arguments: What it finds in ``sys.argv``, behind the first.
        environment: Its complete environment, but for what Python has read as it started.
        folder: Its working folder.
        output: Where its stdout and stderr go; else stdout is read from here, and stderr is this process's.
        hash_seed: As in ``PYTHONHASHSEED``.
    """
    request = {"function": function, "arguments": arguments, "environment": dict(environment), "folder": str(folder)}
    body, path = json.dumps(request).encode(), await asyncio.to_thread(fork_server, hash_seed)
    if output:
        server, stdout = _ask(path, body, (output.fileno(), output.fileno())), None
    else:
        reading, writing = os.pipe()
        server, stdout = _ask(path, body, (writing, 2)), asyncio.StreamReader()
        os.close(writing)
        protocol = asyncio.StreamReaderProtocol(stdout)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(reading, "rb"))
    # It is killed as soon as nobody is connected.
    reader, writer = await asyncio.open_unix_connection(sock=server)
    return Forked(await _number(reader), _status(reader, writer), stdout)


async def _status(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    try:
        return await _number(reader)
    finally:
        writer.close()
        await writer.wait_closed()


async def _number(reader: asyncio.StreamReader) -> int:
    return int.from_bytes(await reader.readexactly(8), "big", signed=True)


def _ask(path: Path, request: bytes, outputs: tuple[int, int]) -> socket.socket:
    """Send a request, and the streams of the fork: it reads nothing."""
    server = socket.socket(socket.AF_UNIX)
    server.connect(str(path))
    nothing = os.open(os.devnull, os.O_RDONLY)
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [nothing, *outputs])
    os.close(nothing)
    server.sendall(request)
    return server
