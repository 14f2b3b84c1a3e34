"""The detached process that keeps the local servers and a worker running until it is stopped.

``localservers.ensure`` starts it. It reads a ``Launch`` from standard input, writes reports to standard output until
everything is ready, and from then on only updates ``servers.json``. SIGTERM stops everything; SIGUSR1 adds a worker, or
replaces the one that runs by one with the settings that were ordered. SIGUSR2 adds the HTTP service.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal, cast

from localservers.commands import LOOPBACK
from localservers.files import unusable
from localservers.fleet import Fleet, child_environment, start_service, start_worker
from localservers.processes import Child, trim
from localservers.recipes import Server
from localservers.state import FleetState, HomeLock, Launch, Report, Running, WorkerOrder, read_order, write_state
from perdure.errors import PerdureError
from perdure.settings import Settings

WORKER_STOPS_WITHIN = 15.0
_LONGEST_PAUSE = 10.0
_STEADY_AFTER = 30.0
"""A process that ran for this many seconds before it ended is restarted at once, as if it had never failed."""
_TRIM_EVERY = 10.0


def report(kind: Literal["progress", "ready", "locked", "failed"], text: str = "") -> None:
    """Report to the process that started this one, if it still reads; a full disk must stop nothing that runs."""
    with contextlib.suppress(OSError):
        sys.stdout.write(Report(kind=kind, text=text).model_dump_json() + "\n")
        sys.stdout.flush()


class Supervisor:
    """Keeps what it launched running, and ``servers.json`` up to date."""

    def __init__(self, settings: Settings, launch: Launch) -> None:
        self._settings = settings
        self._launch = launch
        self._fleet = Fleet(settings, launch.found, lambda text: report("progress", text))
        self._worker_wanted = asyncio.Event()
        self._worker: Child | None = None
        self._service_wanted = asyncio.Event()
        self._service: Child | None = None
        self._port = 0
        self._stopping: set[asyncio.Task[None]] = set()
        self._restarts: dict[str, int] = {}
        self._problem = ""
        self._ordered: set[str] = set()
        """Processes that were asked to end, to be started anew."""
        self._is_written = True
        self._order = WorkerOrder(
            environment=child_environment(settings), settings=settings.fingerprint, origin=launch.origin
        )

    async def run(self) -> None:
        """Start everything, keep it running, and stop it in order on SIGTERM or SIGINT."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self._want_worker)
        loop.add_signal_handler(signal.SIGUSR2, self._service_wanted.set)
        if self._launch.worker:
            self._worker_wanted.set()
        work = asyncio.create_task(self._work())
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, work.cancel)
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await work
        finally:
            try:
                started = [one.stop(WORKER_STOPS_WITHIN) for one in (self._service, self._worker) if one]
                await asyncio.gather(*started)
            finally:
                await self._fleet.stop_all()
                (self._settings.home / "servers.json").unlink(missing_ok=True)

    async def _work(self) -> None:
        await self._fleet.start_all()
        if self._worker_wanted.is_set():
            self._worker = await self._start_worker()
        self._write()
        report("ready")
        # Close the pipe to the process that started this one: it reads to the end of the reports.
        os.dup2(2, 1)
        async with asyncio.TaskGroup() as group:
            for server in self._launch.found:
                group.create_task(self._keep(server, self._fleet.child(server), partial(self._restart, server)))
            group.create_task(self._keep_worker())
            group.create_task(self._keep_service())
            group.create_task(self._trim_logs())

    async def _restart(self, server: Server) -> Child:
        before = self._fleet.addresses
        child = await self._fleet.start(server)
        if self._fleet.addresses != before:
            # They would use the old port forever; once they have ended, their keepers start them again.
            for one in filter(None, (self._worker, self._service)):
                one.signal(signal.SIGTERM)
        return child

    def _want_worker(self) -> None:
        self._worker_wanted.set()
        if self._worker is None:
            return
        self._order = read_order(self._settings.home) or self._order
        self._problem = ""
        # Their keepers start the next ones; a call that must not be cut off has until then to end.
        self._ordered = {"worker", "service"}
        for one in filter(None, (self._worker, self._service)):
            stopping = asyncio.get_running_loop().create_task(one.stop(WORKER_STOPS_WITHIN))
            self._stopping.add(stopping)
            stopping.add_done_callback(self._stopping.discard)

    async def _keep_worker(self) -> None:
        await self._worker_wanted.wait()
        if self._worker is None:
            self._order = read_order(self._settings.home) or self._order
            self._worker = await self._start_worker()
            self._rewrite()
        await self._keep("worker", self._worker, self._start_worker)

    async def _start_worker(self) -> Child:
        log = self._settings.home / "logs" / "worker.log"
        self._worker = await start_worker(self._order.environment, self._fleet.addresses, log)
        return self._worker

    async def _keep_service(self) -> None:
        await self._service_wanted.wait()
        self._order = read_order(self._settings.home) or self._order
        self._port = self._fleet.service_port(int(self._order.environment.get("PERDURE_HTTP_PORT", "0")))
        self._service = await self._start_service()
        self._rewrite()
        await self._keep("service", self._service, self._start_service)

    async def _start_service(self) -> Child:
        log = self._settings.home / "logs" / "service.log"
        self._service = await start_service(self._order.environment, self._fleet.addresses, self._port, log)
        return self._service

    async def _keep(self, name: str, child: Child, start: Callable[[], Awaitable[Child]]) -> None:
        """Restart a process whenever it ends: at once if it ran for long, otherwise after growing pauses."""
        pause = 0.0
        while True:
            since = time.monotonic()
            status = await child.wait()
            if name == "worker":
                # A negative status means a signal, and 0 a requested stop; otherwise its last line says what failed.
                self._problem = child.last_lines(1) if status > 0 else ""
            if time.monotonic() - since > _STEADY_AFTER or name in self._ordered:
                pause = 0.0
            self._ordered.discard(name)
            _log(f"{name} ended with status {status}; restarting it in {pause:.1f} s")
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, max(0.2, pause * 2))
            try:
                child = await start()
            except (PerdureError, OSError) as error:
                _log(str(error))
            self._restarts[name] = self._restarts.get(name, 0) + 1
            self._rewrite()

    async def _trim_logs(self) -> None:
        while True:
            await asyncio.sleep(_TRIM_EVERY)
            for log in (self._settings.home / "logs").glob("*.log"):
                with contextlib.suppress(OSError):
                    trim(log)
            if not self._is_written:
                self._rewrite()

    def _rewrite(self) -> None:
        """Write what has changed: later, where the disk is full, as the processes go on without it."""
        try:
            self._write()
        except OSError as error:
            _log(f"servers.json: {error}")
            self._is_written = False
        else:
            self._is_written = True

    def _write(self) -> None:
        servers = {
            server.value: Running(pid=pid, restarts=self._restarts.get(server, 0))
            for server, pid in self._fleet.pids.items()
        }
        worker = None
        if self._worker:
            worker = Running(
                pid=self._worker.pid,
                restarts=self._restarts.get("worker", 0),
                settings=self._order.settings,
                origin=self._order.origin,
                problem=self._problem,
            )
        service = None
        if self._service:
            service = Running(pid=self._service.pid, restarts=self._restarts.get("service", 0))
        state = FleetState(
            pid=os.getpid(),
            addresses=self._fleet.addresses,
            servers=servers,
            worker=worker,
            service=service,
            service_url=f"http://{LOOPBACK}:{self._port}" if service else "",
        )
        write_state(self._settings.home, state)


def _log(text: str) -> None:
    # On a full disk, what runs goes on without its log.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
        sys.stderr.flush()


def main() -> int:
    """Run a supervisor."""
    os.umask(0o077)
    launch = Launch.model_validate_json(sys.stdin.read())
    # Double fork: the process that started this one does not have to reap the supervisor.
    if os.fork():
        return 0
    settings = Settings()
    lock = HomeLock(settings.home)
    try:
        if not lock.acquire():
            report("locked")
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
    # The lock is released only by the end of this process, so its release means that the process is gone.
    return 0


def _first(error: Exception) -> Exception:
    if isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        return _first(group.exceptions[0])
    return error


if __name__ == "__main__":
    sys.exit(main())
