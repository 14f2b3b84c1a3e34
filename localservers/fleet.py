"""The local servers of one data folder, as children of this process: start, stop, ports and addresses.

The supervisor and the tests find the binaries and decide when to start what.
"""

import asyncio
import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import SecretStr

from localservers.commands import LOOPBACK, PORTS, choose, command, is_free
from localservers.files import replace, writable
from localservers.find import Found
from localservers.held_ports import HeldPorts
from localservers.problems import ServerNotStarted
from localservers.processes import Child, raised_file_limit
from localservers.readiness import NotReady, wait_ready
from localservers.recipes import Server
from perdure.settings import Addresses, Settings
from perdure.variables import without_files

READY_WITHIN = 120.0
"""Seconds that a server may take to start: a large store loads its data first."""

STOP_WITHIN = 20.0
"""Seconds that a server may take to flush and exit."""

_REPORT_AFTER = 5.0

_ATTEMPTS = 3
"""Another process can take a free port before the server binds it; then the server is tried on other ports."""


class Fleet:
    """The local servers of one data folder.

    Args:
        settings: Its ``home`` holds their data; a server that it has an address for is not started.
        found: The binary of each server to run.
        say: Receives lines of progress.
        others: The addresses of servers that are neither run here nor named by the settings.
    """

    def __init__(
        self,
        settings: Settings,
        found: Mapping[Server, Found],
        say: Callable[[str], None],
        others: Addresses | None = None,
    ) -> None:
        self._others = others
        self._settings = settings
        self._found = dict(found)
        self._say = say
        self._children: dict[Server, Child] = {}
        self._ports: dict[str, int] = {}
        self._held = HeldPorts()
        self._home = settings.home

    @property
    def pids(self) -> dict[Server, int]:
        """The process ids of the servers that are running."""
        return {server: child.pid for server, child in self._children.items() if not child.ended}

    def service_port(self, wanted: int) -> int:
        """Return the port of the HTTP service: that of the last run, otherwise the wanted one, if it is free.

        Args:
            wanted: As the settings say; 0: any.
        """
        remembered = self._remembered()
        first = {"http": wanted} if wanted else {}
        chosen = choose([("http",)], first | {name: port for name, port in remembered.items() if name == "http"})
        self._remember(remembered | chosen)
        return chosen["http"]

    def child(self, server: Server) -> Child:
        """Return the process of a server that was started."""
        return self._children[server]

    @property
    def addresses(self) -> Addresses:
        """The addresses of all servers: of this fleet, and those that the settings name."""
        ports, others = self._ports, self._others
        addresses: dict[str, object] = (others.model_dump() if others else {}) | self._settings.named_addresses()
        if Server.TEMPORAL in self._found:
            addresses["temporal"] = f"{LOOPBACK}:{ports['temporal']}"
            addresses["temporal_ui"] = f"http://{LOOPBACK}:{ports['temporal-ui']}"
        if Server.WEAVIATE in self._found:
            addresses["weaviate_url"] = f"http://{LOOPBACK}:{ports['weaviate']}"
            addresses["weaviate_grpc_port"] = ports["weaviate-grpc"]
            addresses["weaviate_api_key"] = SecretStr(weaviate_key(self._home))
            addresses["weaviate_open_files"] = raised_file_limit()
        if Server.REDIS in self._found:
            addresses["redis_url"] = f"redis://{LOOPBACK}:{ports['redis']}"
        return Addresses.model_validate(addresses)

    def data(self, server: Server) -> Path:
        """Return the folder with a server's data."""
        return self._home / "data" / server

    async def start_all(self) -> None:
        """Start all servers concurrently and wait until each is ready."""
        self._choose_ports()
        async with asyncio.TaskGroup() as group:
            for server in self._found:
                group.create_task(self.start(server))

    async def start(self, server: Server) -> Child:
        """Start one server on its ports, wait until it is ready, and return its process.

        Raises:
            ServerNotStarted: With the end of its log.
        """
        attempts = 0
        while True:
            attempts += 1
            started = time.monotonic()
            child = await self._launch(server)
            try:
                problem = await self._ready_or_ended(server, child)
                if problem is None:
                    self._say(f"{server} is ready on port {self._ports[server]} ({time.monotonic() - started:.1f} s)")
                    return child
            except Exception:
                # Whoever is told that it was not started starts another one.
                await child.stop(STOP_WITHIN)
                raise
            await child.stop(STOP_WITHIN)
            last = child.last_lines()
            if attempts == _ATTEMPTS or "in use" not in last.lower():
                raise ServerNotStarted(f"{server} {problem}; its log {child.log} ends with:\n{last}")
            self._say(f"another process took a port of {server}; trying other ports")
            self._choose_ports(afresh=server)

    async def stop(self, server: Server) -> None:
        """Stop one server, keeping its data and ports for the next start."""
        child = self._children.pop(server, None)
        if child:
            await child.stop(STOP_WITHIN)

    async def stop_all(self) -> None:
        """Stop all servers, those that depend on others first."""
        for server in (Server.TEMPORAL, Server.WEAVIATE, Server.REDIS):
            await self.stop(server)
        self._held.keep(())

    async def _ready_or_ended(self, server: Server, child: Child) -> str | None:
        """Wait until a server is ready or has ended; return what went wrong, or None."""
        ended = asyncio.ensure_future(child.wait())
        ready = asyncio.ensure_future(wait_ready(server, self._ports[server], READY_WITHIN))
        both, waited = {ended, ready}, 0.0
        try:
            while not (await asyncio.wait(both, timeout=_REPORT_AFTER, return_when=asyncio.FIRST_COMPLETED))[0]:
                waited += _REPORT_AFTER
                self._say(f"waiting for {server} to be ready ({waited:.0f} s)")
            if ended.done():
                return f"ended with status {ended.result()} before it was ready"
            ready.result()
        except NotReady as error:
            return str(error)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(ended, ready, return_exceptions=True)
        return None

    async def _launch(self, server: Server) -> Child:
        data = self.data(server)
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self._found[server]
        start = command(server, found.path, self._ports, data, weaviate_key(self._home))
        log = self._home / "logs" / f"{server}.log"
        raised_file_limit()  # The server inherits it.
        child = await Child.start(start.arguments, _plain_environment() | start.environment, log)
        self._children[server] = child
        return child

    def _choose_ports(self, afresh: Server | None = None) -> None:
        remembered = self._remembered()
        if afresh:
            own = [name for group in PORTS[afresh] for name in group]
            kept = {name: port for name, port in self._ports.items() if name not in own}
            self._ports = kept | choose(PORTS[afresh], {}, free=self._takes, say=self._say)
        else:
            groups = [group for server in self._found for group in PORTS[server]]
            self._ports = choose(groups, remembered, free=self._takes, say=self._say)
        self._held.keep(self._ports.values())
        self._remember(remembered | self._ports)

    def _takes(self, port: int) -> bool:
        return is_free(port) and self._held.hold(port)

    def _remembered(self) -> dict[str, int]:
        try:
            found: dict[str, int] = json.loads((self._home / "ports.json").read_text())
        except (FileNotFoundError, ValueError):
            found = {}
        return found

    def _remember(self, ports: Mapping[str, int]) -> None:
        with writable(self._home):
            replace(self._home / "ports.json", json.dumps(ports, indent=1))


def weaviate_key(home: Path) -> str:
    """Return the API key of the local Weaviate, creating it on the first call; only its owner can read it."""
    file = home / "weaviate.key"
    with writable(home):
        # An empty file, left by a full disk, would keep Weaviate from ever starting again.
        if not (file.exists() and file.read_text().strip()):
            replace(file, secrets.token_urlsafe(32))
        return file.read_text().strip()


def child_environment(settings: Settings) -> dict[str, str]:
    """Return this process's environment, changed such that a child loads exactly these settings."""
    # A setting may not be given both by its variable and by a file.
    return without_files(os.environ, Settings.model_fields) | settings.environment()


def worker_environment(settings: Settings, addresses: Addresses) -> dict[str, str]:
    """Return the environment of a worker with these settings on these servers."""
    return child_environment(settings) | _address_variables(addresses)


async def start_worker(environment: Mapping[str, str], addresses: Addresses, log: Path) -> Child:
    """Start a worker process in this environment, on these servers."""
    return await Child.start([sys.executable, "-m", "worker"], dict(environment) | _address_variables(addresses), log)


async def start_service(environment: Mapping[str, str], addresses: Addresses, port: int, log: Path) -> Child:
    """Start the HTTP service in this environment, on these servers, where this machine alone reaches it."""
    listening = {"PERDURE_HTTP_HOST": LOOPBACK, "PERDURE_HTTP_PORT": str(port)}
    variables = dict(environment) | _address_variables(addresses) | listening
    return await Child.start([sys.executable, "-m", "worker.http"], variables, log)


def _address_variables(addresses: Addresses) -> dict[str, str]:
    key = addresses.weaviate_api_key
    return {
        "PERDURE_WEAVIATE_URL": addresses.weaviate_url,
        "PERDURE_WEAVIATE_GRPC_PORT": str(addresses.weaviate_grpc_port),
        "PERDURE_WEAVIATE_OPEN_FILES": str(addresses.weaviate_open_files),
        "PERDURE_REDIS_URL": addresses.redis_url,
        "TEMPORAL_ADDRESS": addresses.temporal,
    } | ({"PERDURE_WEAVIATE_API_KEY": key.get_secret_value()} if key else {})


def _plain_environment() -> dict[str, str]:
    """Return the variables any program needs, without this process's secrets and without stray server options."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG", "TZ") if name in os.environ}
