"""The process of the HTTP service: it answers until it is stopped, and then ends what it has begun."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
from collections.abc import Generator
from typing import Literal

import uvicorn
import uvloop
from starlette.types import ASGIApp

from localservers import state
from localservers.processes import raised_file_limit
from perdure.errors import InvalidInput
from perdure.settings import Settings
from worker.access import local_token
from worker.configuration_checks import require_readable
from worker.gateway import Gateway
from worker.http.app import make_app
from worker.http.connections import PatientProtocol
from worker.local_worker import reachable
from worker.telemetry import Telemetry, configure_logging
from worker.telemetry.setup import sends_metrics

_ENDS_WITHIN = 20
"""Seconds that requests have to end once the service is stopped; a choice."""


class HttpServer(uvicorn.Server):
    """A server that ends in order when it is told to; uvicorn's own then sends itself the signal once more.

    Args:
        config: What is served, and how.
        told: What is said on stderr once it listens.
        ending: Set once it begins to end.
    """

    def __init__(self, config: uvicorn.Config, told: str, ending: asyncio.Event) -> None:
        super().__init__(config)
        self._told = told
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        sys.stderr.write(f"{self._told}\n")
        sys.stderr.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Have the streams end, and wait for what is under way."""
        self._ending.set()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """End at SIGTERM and Ctrl-C, and at once at the second one."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.told_to_end)
        yield

    def told_to_end(self) -> None:
        """Begin to end; told again, wait for nobody."""
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(settings: Settings) -> None:
    """Answer requests until SIGTERM or Ctrl-C.

    Raises:
        InvalidInput: The address cannot be listened on, the provider's settings are wrong, or a file that the settings
            name, or the embedding model, cannot be used.
        NothingRuns: No servers are configured, and none run here.
        StoreUnavailable: The token of this machine cannot be made.
    """
    # What is found wrong once uvicorn runs ends it with a traceback, or leaves a service that lets nobody in.
    require_readable(settings)
    configure_logging()
    # Each connection is a file: with the usual limit, a thousand idle ones would keep everybody out.
    raised_file_limit()
    local = is_loopback(settings.http_host)
    listening = listening_on(settings)
    telemetry = Telemetry.start(settings, service="perdure-http", scraped=True)
    try:
        gateway = Gateway(settings, reachable(settings), plugins=[telemetry.plugin])
        app = make_app(settings, gateway, local=local, measured_here=not sends_metrics())
        token = f", token in {local_token.made(settings)}" if local else ""
        host, port = listening.getsockname()[:2]
        told = f"serving http://{f'[{host}]' if ':' in host else host}:{port}{token}"
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            server = HttpServer(configured(app, lifespan="on"), told, app.state.ending)
            runner.run(server.serve(sockets=[listening]))
    finally:
        listening.close()
        telemetry.stop()


def configured(app: ASGIApp, *, lifespan: Literal["auto", "on", "off"] = "auto") -> uvicorn.Config:
    """Return how an application is served.

    Its connections are not counted: idle ones would keep everybody out. What is under way is (see ``Observing``).
    """
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_ENDS_WITHIN,
        # Whoever asks is who the token says, and no header of a proxy's changes that.
        proxy_headers=False,
    )


def is_loopback(host: str) -> bool:
    """Return whether what listens on an address can be reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening_on(settings: Settings) -> socket.socket:
    """Return a socket at the configured address.

    Raises:
        InvalidInput: It cannot be had.
    """
    host = "127.0.0.1" if settings.http_host == "localhost" else settings.http_host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Where the protocol is not named, asyncio leaves Nagle's algorithm on: each answer then waits 40 ms (measured).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, settings.http_port))
    except OSError as error:
        listening.close()
        current = state(settings)
        if current is not None and current.service_url.endswith(f":{settings.http_port}"):
            problem = f"Perdure's own service listens there already: {current.service_url}"
            raise InvalidInput("http_port", problem, fix="use that one, or give another --port") from None
        problem = f"{host}:{settings.http_port} cannot be listened on: {error.strerror}"
        raise InvalidInput("http_port", problem, fix="stop what listens there, or give another --port") from None
    return listening
