"""Owns the detached process that keeps the local servers and a worker running, until it is told to stop.

It is started by ``localservers.ensure``, reads its launch from standard input, reports on standard output until
all is ready, and then speaks through ``servers.json`` alone. SIGTERM stops everything; SIGUSR1 adds a worker.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Literal, cast

from localservers.cache import unusable
from localservers.fleet import Fleet, start_worker
from localservers.launch import Launch, Report
from localservers.processes import Child, trim
from localservers.recipes import Server
from localservers.state import HomeLock, Running, State, WorkerOrder, read_order, remove_state, write_state
from perdure.errors import PerdureError
from perdure.settings import Settings

WORKER_STOPS_WITHIN = 15.0
_LONGEST_PAUSE = 10.0
_STEADY_AFTER = 30.0
"""Seconds after which a process that ended is started again at once, as if it had never failed."""
_TRIM_EVERY = 10.0


def report(kind: Literal["say", "ready", "held", "failed"], text: str = "") -> None:
    """Tell whoever started us, if they still listen."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(Report(kind=kind, text=text).model_dump_json() + "\n")
        sys.stdout.flush()


class Supervisor:
    """Keeps what it launched running, and the state file true."""

    def __init__(self, settings: Settings, launch: Launch) -> None:
        self._settings = settings
        self._launch = launch
        self._fleet = Fleet(settings, launch.found, lambda text: report("say", text))
        self._stop = asyncio.Event()
        self._worker_wanted = asyncio.Event()
        self._worker: Child | None = None
        self._restarts: dict[str, int] = {}
        self._problem = ""
        self._order = WorkerOrder(environment=os.environ | settings.environment(), settings=settings.fingerprint)

    async def run(self) -> None:
        """Start everything, keep it, and stop it in order when told to."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGUSR1, self._worker_wanted.set)
        if self._launch.worker:
            self._worker_wanted.set()
        work = asyncio.create_task(self._work())
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        for task in (work, stop):
            task.cancel()
        results = await asyncio.gather(work, stop, return_exceptions=True)
        try:
            if self._worker:
                await self._worker.stop(WORKER_STOPS_WITHIN)
        finally:
            await self._fleet.stop_all()
            remove_state(self._settings.home)
        if isinstance(results[0], Exception):
            raise results[0]

    async def _work(self) -> None:
        await self._fleet.start_all()
        if self._worker_wanted.is_set():
            await self._start_worker()
        self._write()
        report("ready")
        _detach_output()
        async with asyncio.TaskGroup() as group:
            for server in self._fleet.servers:
                group.create_task(self._keep(server, lambda s=server: self._fleet.child(s), self._restart(server)))
            group.create_task(self._keep_worker())
            group.create_task(self._trim_logs())

    def _restart(self, server: Server) -> Callable[[], Awaitable[None]]:
        async def again() -> None:
            before = self._fleet.addresses
            await self._fleet.start(server)
            if self._worker and self._fleet.addresses != before:
                # It would look for the server on its old port for good: its keeper starts it anew.
                self._worker.signal(signal.SIGTERM)

        return again

    async def _keep_worker(self) -> None:
        await self._worker_wanted.wait()
        if self._worker is None:
            self._order = read_order(self._settings.home) or self._order
            await self._start_worker()
            self._write()

        def current() -> Child:
            assert self._worker
            return self._worker

        await self._keep("worker", current, self._start_worker)

    async def _start_worker(self) -> None:
        log = self._settings.home / "logs" / "worker.log"
        self._worker = await start_worker(self._order.environment, self._fleet.addresses, log)

    async def _keep(self, name: str, current: Callable[[], Child], start: Callable[[], Awaitable[None]]) -> None:
        """Start a process again whenever it ends; sooner the steadier it was."""
        pause = 0.0
        while True:
            since = time.monotonic()
            status = await current().wait()
            if name == "worker":
                # A signal is somebody's doing, and 0 is what it was told; with all else it says what is wrong.
                self._problem = current().last_lines(1) if status > 0 else ""
            pause = 0.0 if time.monotonic() - since > _STEADY_AFTER else pause
            _log(f"{name} ended with status {status}; starting it again in {pause:.1f} s")
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, max(0.2, pause * 2))
            try:
                await start()
            except (PerdureError, OSError) as error:
                _log(str(error))
            self._restarts[name] = self._restarts.get(name, 0) + 1
            self._write()

    async def _trim_logs(self) -> None:
        while True:
            await asyncio.sleep(_TRIM_EVERY)
            self._fleet.trim_logs()
            for name in ("worker", "supervisor"):
                trim(self._settings.home / "logs" / f"{name}.log")

    def _write(self) -> None:
        servers = {
            server.value: Running(
                pid=pid,
                how=self._launch.found[server].how,
                path=str(self._launch.found[server].path),
                restarts=self._restarts.get(server, 0),
            )
            for server, pid in self._fleet.pids.items()
        }
        worker = None
        if self._worker:
            worker = Running(
                pid=self._worker.pid,
                restarts=self._restarts.get("worker", 0),
                settings=self._order.settings,
                problem=self._problem,
            )
        state = State(pid=os.getpid(), addresses=self._fleet.addresses, servers=servers, worker=worker)
        write_state(self._settings.home, state)


def _detach_output() -> None:
    """Let go of the pipe to whoever started us: they read to its end to know that we are done reporting."""
    os.dup2(2, 1)


def _log(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
    sys.stderr.flush()


def main() -> int:
    """Run a supervisor; standard input holds its launch."""
    os.umask(0o077)
    launch = Launch.model_validate_json(sys.stdin.read())
    # A child of nobody: whoever started us neither has to wait for us nor leaves us behind as a zombie.
    if os.fork():
        return 0
    settings = Settings()
    lock = HomeLock(settings.home)
    try:
        if not lock.acquire():
            report("held")
            return 3
        asyncio.run(Supervisor(settings, launch).run())
    except (PerdureError, OSError, ExceptionGroup) as error:
        cause = _first(error)
        text = str((unusable(settings.home, cause) if isinstance(cause, OSError) else cause).args[0])
        report("failed", text)
        _log(text)
        if not isinstance(cause, PerdureError | OSError):
            raise
        return 1
    # The lock is not given back here but by our end: whoever waits for it may count on us being gone.
    return 0


def _first(error: Exception) -> Exception:
    if isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        return _first(group.exceptions[0])
    return error


if __name__ == "__main__":
    sys.exit(main())
