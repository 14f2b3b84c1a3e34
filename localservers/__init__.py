"""Real servers on this machine: found or installed, started detached with their data in one folder, and stopped.

Any process of the same user may call these functions; a lock in the folder decides which one starts the servers.
A server that the settings have an address for is never started.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from localservers.files import locked, wait_until, writable
from localservers.find import Found, find
from localservers.fleet import Fleet, child_environment
from localservers.foreground import announced
from localservers.origin import SettingsOrigin
from localservers.problems import HomeUnusable, LocalServersError, ServerNotFound, ServerNotStarted, ServerNotStopped
from localservers.recipes import Server
from localservers.state import FleetState, HomeLock, Launch, Report, Running, WorkerOrder, ordered, read_state
from perdure.errors import NothingRuns
from perdure.settings import Addresses, Settings

__all__ = [
    "Fleet",
    "FleetState",
    "Found",
    "HomeUnusable",
    "LocalServersError",
    "Server",
    "ServerNotFound",
    "ServerNotStarted",
    "SettingsOrigin",
    "ensure",
    "find_all",
    "restart",
    "running",
    "serve",
    "state",
    "stop",
]

ROOM_NEEDED = 200_000_000
"""Free bytes that the data folder needs: enough for empty stores and their logs."""

_STOPPED_WITHIN = 90.0
_WORKER_WITHIN = 10.0
_WORKER_STOPS_WITHIN = 20.0
"""A supervisor kills a worker that has not stopped in 15."""


def ensure(settings: Settings, *, worker: bool, progress: Callable[[str], None] = lambda _: None) -> Addresses:
    """Return the addresses of the servers, starting those that are neither configured nor running.

    Args:
        settings: Names the data folder, and the addresses of servers that are not started here.
        worker: Whether to run a worker too.
        progress: Receives lines of progress.

    Raises:
        LocalServersError: With what was tried and what to do.
    """
    configured = settings.configured_addresses()
    if configured:
        progress("the settings have an address for every server; none is started here")
        return configured
    home = settings.home
    attached = _attach(settings, worker=worker, progress=progress)
    if attached:
        return attached
    with locked(home / "start.lock", lambda: progress(f"another process is starting the servers of {home}")):
        _await_other(settings, progress)
        attached = _attach(settings, worker=worker, progress=progress)
        if attached:
            return attached
        free = shutil.disk_usage(home).free
        if free < ROOM_NEEDED:
            raise HomeUnusable(f"{home} has {free / 1e6:.0f} MB free; at least {ROOM_NEEDED / 1e6:.0f} MB are needed")
        # One that waits in a terminal for these servers is the worker they need, if they come back under its address.
        launch = Launch(
            found=find_all(settings, progress),
            worker=worker and not announced(home),
            origin=SettingsOrigin.here(),
        )
        addresses = _launch(settings, launch, progress)
        if worker and not launch.worker and (started := state(settings)):
            _add_worker(settings, started, progress)
        return addresses


def restart(settings: Settings, progress: Callable[[str], None] = lambda _: None) -> bool:
    """Replace the worker by one with these settings, and with the tools and skills of now; the servers go on.

    Returns:
        Whether a worker was running: False if none was, so that one was started.

    Raises:
        NothingRuns: Nothing runs here.
        ServerNotStarted: The worker is one in a terminal, or it has not been replaced in time.
    """
    current = state(settings)
    if current is None:
        raise NothingRuns(f"nothing runs in {settings.home}")
    before = current.worker
    if before is None and current.foreground:
        pid = current.foreground[0].pid
        raise ServerNotStarted(f"the worker runs in a terminal, as process {pid}: stop it there, and start it anew")
    progress("stopping the worker, and starting it anew" if before else "starting a worker")
    with ordered(settings.home, _order(settings)):
        os.kill(current.pid, signal.SIGUSR1)

        def replaced() -> bool:
            now = state(settings)
            return bool(now and now.worker and (before is None or now.worker.pid != before.pid))

        if not wait_until(replaced, _WORKER_WITHIN + _WORKER_STOPS_WITHIN):
            raise ServerNotStarted(f"the worker was not started anew in time; see {settings.home}/logs")
    return before is not None


def serve(settings: Settings, progress: Callable[[str], None] = lambda _: None) -> str:
    """Have the HTTP service run next to the servers that run here, and return its URL.

    Raises:
        NothingRuns: Nothing runs here.
        ServerNotStarted: The service has not been started in time.
    """
    current = state(settings)
    if current is None:
        raise NothingRuns(f"nothing runs in {settings.home}")
    if current.service is None:
        progress("starting the HTTP service")
        with ordered(settings.home, _order(settings)):
            os.kill(current.pid, signal.SIGUSR2)
            if not wait_until(lambda: bool((now := state(settings)) and now.service), _WORKER_WITHIN):
                raise ServerNotStarted(f"no service was started in {_WORKER_WITHIN:.0f} s; see {settings.home}/logs")
        current = state(settings) or current
    return current.service_url


def running(settings: Settings) -> Addresses | None:
    """Return the addresses of the servers if they are configured or running, otherwise None."""
    configured = settings.configured_addresses()
    if configured:
        return configured
    current = state(settings)
    return _preferred(settings, current.addresses) if current else None


def state(settings: Settings) -> FleetState | None:
    """Return what runs in the data folder; None if there is no supervisor, or it is not ready yet."""
    holder = HomeLock(settings.home).holder()
    current = read_state(settings.home) if holder else None
    if current is None or current.pid != holder:
        return None
    # One that serves a Temporal of before is of no use to the tasks of this one.
    temporal = _preferred(settings, current.addresses).temporal
    foreground = (one for one in announced(settings.home) if one.temporal == temporal)
    return current.changed(
        foreground=tuple(
            Running(pid=one.pid, settings=one.settings, origin=one.origin, is_foreground=True) for one in foreground
        )
    )


def stop(settings: Settings, progress: Callable[[str], None] = lambda _: None) -> bool:
    """Stop the servers and the worker, and wait until they have ended.

    Returns:
        Whether anything was running.
    """
    lock = HomeLock(settings.home)
    # A new holder has not written its id yet, and signalling 0 would reach our own process group.
    while (holder := lock.holder()) == 0:
        time.sleep(0.01)
    if holder is None:
        return False
    progress(f"stopping the servers of {settings.home}")
    with contextlib.suppress(ProcessLookupError):
        os.kill(holder, signal.SIGTERM)
    if not wait_until(lambda: lock.holder() is None, _STOPPED_WITHIN):
        raise ServerNotStopped(f"process {holder} has not stopped in {_STOPPED_WITHIN:.0f} s; see {settings.home}/logs")
    return True


def find_all(settings: Settings, progress: Callable[[str], None]) -> dict[Server, Found]:
    """Find or install every server that the settings have no address for, and report which binary is used."""
    named = settings.named_addresses()
    fields = {Server.REDIS: "redis_url", Server.TEMPORAL: "temporal", Server.WEAVIATE: "weaviate_url"}
    found: dict[Server, Found] = {}
    for server in Server:
        if fields[server] in named:
            progress(f"{server}: its address is configured; not started here")
            continue
        found[server] = find(server, settings, progress)
        progress(f"{server}: {found[server].path} ({found[server].how})")
    return found


def _attach(settings: Settings, *, worker: bool, progress: Callable[[str], None]) -> Addresses | None:
    current = state(settings)
    if current is None:
        return None
    addresses = _preferred(settings, current.addresses)
    # The key of a configured Weaviate is not kept in the data folder, so it does not count as a difference.
    if addresses.changed(weaviate_api_key=current.addresses.weaviate_api_key) != current.addresses:
        raise HomeUnusable(
            f"the servers in {settings.home} were started without an address that the settings name now; "
            "stop them with 'perdure down', or remove the address from the settings"
        )
    progress(f"using the servers that are running in {settings.home}")
    if worker:
        _add_worker(settings, current, progress)
    return addresses


def _add_worker(settings: Settings, current: FleetState, progress: Callable[[str], None]) -> None:
    """Start a worker for servers that run, if they have none."""
    if current.workers:
        return
    progress("starting a worker for them")
    with ordered(settings.home, _order(settings)):
        os.kill(current.pid, signal.SIGUSR1)
        if not wait_until(lambda: bool((now := state(settings)) and now.worker), _WORKER_WITHIN):
            raise ServerNotStarted(f"no worker was started in {_WORKER_WITHIN:.0f} s; see {settings.home}/logs")


def _order(settings: Settings) -> WorkerOrder:
    """Return what a supervisor needs to start a worker with these settings."""
    return WorkerOrder(
        environment=child_environment(settings),
        settings=settings.fingerprint,
        origin=SettingsOrigin.here(),
    )


def _preferred(settings: Settings, addresses: Addresses) -> Addresses:
    """Replace the addresses of running servers with those that the settings name."""
    named = settings.named_addresses()
    if named.get("temporal", addresses.temporal) != addresses.temporal:
        named["temporal_ui"] = ""
    return addresses.changed(**named)


def _await_other(settings: Settings, progress: Callable[[str], None]) -> None:
    """Wait while another supervisor is still starting or already stopping."""
    lock = HomeLock(settings.home)
    holder = lock.holder()
    if holder is None or state(settings):
        return
    progress(f"waiting for process {holder}, which is starting or stopping the servers of {settings.home}")
    if not wait_until(lambda: lock.holder() is None or state(settings) is not None, _STOPPED_WITHIN):
        raise ServerNotStarted(
            f"process {lock.holder()} has locked {settings.home} but is not ready; see {settings.home}/logs"
        )


def _launch(settings: Settings, launch: Launch, progress: Callable[[str], None]) -> Addresses:
    """Start a detached supervisor and wait until it reports that it is ready."""
    logs = settings.home / "logs"
    with writable(logs):
        log = (logs / "supervisor.log").open("ab")
    # In its own session neither Ctrl-C nor a closed terminal reaches it; with -P it imports nothing from its folder.
    with (
        log,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "localservers.supervisor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=child_environment(settings),
            cwd=settings.home,
            start_new_session=True,
            text=True,
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        process.stdin.write(launch.model_dump_json())
        process.stdin.close()
        last = Report(kind="failed", text=f"stopped before all servers were ready; see {logs}/supervisor.log")
        for line in process.stdout:
            report = Report.model_validate_json(line)
            if report.kind == "progress":
                progress(report.text)
            else:
                last = report
    ready = state(settings) if last.kind == "ready" else None
    if ready is None:
        raise ServerNotStarted(last.text or f"another process has locked {settings.home}")
    return _preferred(settings, ready.addresses)
