"""Owns the local servers: real ones, found or got, started detached with their data in one folder, and stopped.

Everything here may be called from any process of the same user; a lock in the folder decides who starts them.
A server whose address the settings name is never started.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from localservers.cache import locked, writable
from localservers.find import Found, find
from localservers.fleet import Fleet
from localservers.launch import Launch, Report
from localservers.problems import HomeUnusable, LocalServersError, ServerNotFound, ServerNotStarted
from localservers.recipes import Server
from localservers.state import HomeLock, State, WorkerOrder, ordered, read_state
from perdure.settings import Addresses, Settings

__all__ = [
    "Fleet",
    "Found",
    "HomeUnusable",
    "LocalServersError",
    "Server",
    "ServerNotFound",
    "ServerNotStarted",
    "State",
    "ensure",
    "find_all",
    "running",
    "state",
    "stop",
]

ROOM_NEEDED = 200_000_000
"""Bytes that must be free in the data folder: enough for the empty stores and their logs."""

_STOPPED_WITHIN = 90.0
_WORKER_WITHIN = 10.0


def ensure(settings: Settings, *, worker: bool, progress: Callable[[str], None] = lambda _: None) -> Addresses:
    """Give the addresses of the servers, starting those that are not configured and do not run yet.

    Args:
        settings: The data folder, and the addresses that replace local servers.
        worker: Whether a worker is to run beside them.
        progress: Told what happens, line by line.

    Returns:
        Where the servers are; all of them were ready a moment ago.

    Raises:
        LocalServersError: With what was tried and what to do.
    """
    configured = settings.configured_addresses()
    if configured:
        progress("all servers are configured; none is started here")
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
            raise HomeUnusable(f"{home} has {free / 1e6:.0f} MB free; {ROOM_NEEDED / 1e6:.0f} MB are needed at least")
        launch = Launch(found=find_all(settings, progress), worker=worker)
        return _launch(settings, launch, progress)


def running(settings: Settings) -> Addresses | None:
    """Give the addresses of the servers if they are configured or run already."""
    configured = settings.configured_addresses()
    if configured:
        return configured
    current = state(settings)
    return _preferred(settings, current.addresses) if current else None


def state(settings: Settings) -> State | None:
    """Give what runs in the data folder; None where no supervisor lives, or it is not ready yet."""
    holder = HomeLock(settings.home).holder()
    current = read_state(settings.home) if holder else None
    return current if current and current.pid == holder else None


def stop(settings: Settings, progress: Callable[[str], None] = lambda _: None) -> bool:
    """Stop the servers and the worker, and wait until they are gone.

    Returns:
        Whether anything ran.
    """
    lock = HomeLock(settings.home)
    # A holder that has just come has not noted its id yet, and 0 would mean our own process group.
    while (holder := lock.holder()) == 0:
        time.sleep(0.01)
    if holder is None:
        return False
    progress(f"stopping the servers of {settings.home}")
    with contextlib.suppress(ProcessLookupError):
        os.kill(holder, signal.SIGTERM)
    if not lock.wait_released(_STOPPED_WITHIN):
        raise ServerNotStarted(f"process {holder} has not stopped in {_STOPPED_WITHIN:.0f} s; see {settings.home}/logs")
    return True


def find_all(settings: Settings, progress: Callable[[str], None]) -> dict[Server, Found]:
    """Find, or get, every server that the settings give no address for; say which one was taken."""
    configured = {
        Server.TEMPORAL: settings.temporal_address,
        Server.WEAVIATE: settings.weaviate_url,
        Server.REDIS: settings.redis_url,
    }
    found: dict[Server, Found] = {}
    for server in Server:
        address = configured[server]
        if address:
            progress(f"{server}: configured, not started here")
            continue
        found[server] = find(server, settings, progress)
        progress(f"{server}: {found[server].path} ({found[server].how})")
    return found


def _attach(settings: Settings, *, worker: bool, progress: Callable[[str], None]) -> Addresses | None:
    current = state(settings)
    if current is None:
        return None
    addresses = _preferred(settings, current.addresses)
    # The key of somebody else's Weaviate is not kept in the data folder.
    if addresses.changed(weaviate_api_key=current.addresses.weaviate_api_key) != current.addresses:
        raise HomeUnusable(
            f"the servers of {settings.home} were started without an address that the settings name now; "
            "stop them first with 'perdure down', or leave it out"
        )
    progress(f"attached to the servers that run in {settings.home}")
    if worker and current.worker is None:
        progress("starting a worker beside them")
        order = WorkerOrder(environment=os.environ | settings.environment(), settings=settings.fingerprint)
        with ordered(settings.home, order):
            os.kill(current.pid, signal.SIGUSR1)
            until = time.monotonic() + _WORKER_WITHIN
            while (current := state(settings)) is None or current.worker is None:
                if time.monotonic() > until:
                    raise ServerNotStarted(f"no worker was started in {_WORKER_WITHIN:.0f} s; see {settings.home}/logs")
                time.sleep(0.02)
    elif worker and current.worker and current.worker.settings != settings.fingerprint:
        progress("the worker that runs has other settings: 'perdure down' and 'perdure up' give it those of now")
    return addresses


def _preferred(settings: Settings, addresses: Addresses) -> Addresses:
    """Let the addresses that the settings name win over those of servers that run."""
    named: dict[str, object] = {}
    if settings.temporal_address and settings.temporal_address != addresses.temporal:
        named |= {"temporal": settings.temporal_address, "temporal_ui": ""}
    if settings.weaviate_url:
        named |= {
            "weaviate_url": settings.weaviate_url,
            "weaviate_grpc_port": settings.weaviate_grpc_port,
            "weaviate_api_key": settings.weaviate_api_key,
        }
    if settings.redis_url:
        named["redis_url"] = settings.redis_url
    return addresses.changed(**named)


def _await_other(settings: Settings, progress: Callable[[str], None]) -> None:
    """Wait for a supervisor that is still starting, or already stopping, to have done so."""
    lock = HomeLock(settings.home)
    until = time.monotonic() + _STOPPED_WITHIN
    said = False
    while (holder := lock.holder()) is not None and state(settings) is None:
        if not said:
            progress(f"process {holder} is starting or stopping the servers of {settings.home}; waiting for it")
            said = True
        if time.monotonic() > until:
            raise ServerNotStarted(f"process {holder} holds {settings.home} and is not ready; see {settings.home}/logs")
        time.sleep(0.05)


def _launch(settings: Settings, launch: Launch, progress: Callable[[str], None]) -> Addresses:
    """Start a detached supervisor and listen until it is ready."""
    logs = settings.home / "logs"
    with writable(logs):
        log = (logs / "supervisor.log").open("ab")
    # A session of its own: neither Ctrl-C nor a closed terminal reaches it. -P: it imports nothing from its folder.
    with (
        log,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "localservers.supervisor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=os.environ | settings.environment(),
            cwd=settings.home,
            start_new_session=True,
            text=True,
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        process.stdin.write(launch.model_dump_json())
        process.stdin.close()
        last = Report(kind="failed", text=f"it was stopped before everything was ready; see {logs}/supervisor.log")
        for line in process.stdout:
            report = Report.model_validate_json(line)
            if report.kind == "say":
                progress(report.text)
            else:
                last = report
    ready = state(settings) if last.kind == "ready" else None
    if ready is None:
        raise ServerNotStarted(last.text or f"another process holds {settings.home}")
    return _preferred(settings, ready.addresses)
