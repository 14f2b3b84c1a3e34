"""Runs functions in forks of a process that has loaded what takes long: 5 s of imports become 50 ms (measured).

A fork is still a process of its own, with its own streams, environment and exit code, and can be killed and stopped.
What depends on streams and environment when it is imported, the command's own modules among them, is imported in it.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from perdure import crashpoints
from perdure.models.embedding import minilm

PRELOADED = (
    *("temporalio.client", "temporalio.worker", "temporalio.contrib.pydantic", "redis.asyncio", "weaviate", "typer"),
    *("rich.console", "rich.progress", "rich.table", "opentelemetry.sdk.trace", "perdure", "perdure.settings"),
    *("perdure.temporal.plugin", "perdure.memory.recall.service", "perdure.memory.extraction.rules"),
    *("worker.gateway", "worker.wiring.reading_services", "worker.telemetry", "worker.process", "tests.deployment"),
)


def serve(path: str) -> None:
    """Serve on a Unix socket until stdin ends."""
    for name in PRELOADED:
        importlib.import_module(name)
    if folder := minilm.find_minilm():
        minilm.load_minilm(folder)
    for model in _below(BaseModel):
        # Built when it is first used, otherwise: by each fork.
        if not model.__pydantic_complete__ and model.__module__.startswith("perdure."):
            model.model_rebuild()
    # What a collection touches in a fork would be copied.
    gc.freeze()
    # The kernel reaps those that keep a fork.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                try:
                    _keep(connection)
                finally:
                    os._exit(0)
            connection.close()


def _below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for one in model.__subclasses__():
        yield one
        yield from _below(one)


def _keep(connection: socket.socket) -> None:
    """Run one function, and tell who asked for it how it ended; where nobody asks any more, it is killed."""
    size, streams, _, _ = socket.recv_fds(connection, 8, 3)
    body = b""
    while len(body) < int.from_bytes(size, "big"):
        if not (more := connection.recv(1 << 16)):
            return
        body += more
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    forked = os.fork()
    if forked == 0:
        connection.close()
        _run(json.loads(body), streams)
    for stream in streams:
        os.close(stream)
    connection.sendall(forked.to_bytes(8, "big"))
    ended = os.pidfd_open(forked)
    ready, _, _ = select.select([ended, connection], [], [])
    if ended not in ready:
        os.kill(forked, signal.SIGKILL)
    _, status = os.waitpid(forked, 0)
    with contextlib.suppress(OSError):
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))


def _run(request: dict[str, Any], streams: list[int]) -> None:
    """Be the process that was asked for."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    # They are read when the module is imported, as nothing may ask for them each time.
    crashpoints._points = crashpoints._armed(os.environ.get(crashpoints.VARIABLE, ""))  # pyright: ignore[reportPrivateUsage]
    sys.path[0:0] = [request["folder"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    module, _, function = request["function"].partition(":")
    sys.argv = ["perdure", *request["arguments"]]
    status = 1
    try:
        getattr(importlib.import_module(module), function)()
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
