"""What is disturbed: own servers, two workers, and a service, each started again whatever becomes of it."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

from chaos.ledger import note_death, note_stop
from localservers import Fleet, Server, find_all
from localservers.commands import choose
from localservers.fleet import start_service, start_worker, worker_environment
from localservers.processes import Child
from perdure.settings import Settings

WORKERS = 2

SERVICE = "service"
"""The HTTP service, among what can be disturbed."""

Target = Server | int | str
"""A server, a worker by its number, or the service."""

STOP_WITHIN = 20.0
"""Seconds that a process may take to end after SIGTERM before it is killed."""


class Site:
    """The processes of one installation.

    Args:
        settings: Its settings; all of its data is in ``home``.
        fleet: Its servers.
        ledger: Where effects are noted, and the deaths of the workers that had begun them.
    """

    def __init__(self, settings: Settings, fleet: Fleet, ledger: Path) -> None:
        self.settings = settings
        self.fleet = fleet
        self._ledger = ledger
        self._workers: dict[int, Child] = {}
        self._busy: set[Target] = set()
        self._service: Child | None = None
        self._port = choose([("http",)], {})["http"]

    @property
    def url(self) -> str:
        """Where the service is, once it was begun."""
        return f"http://127.0.0.1:{self._port}"

    async def begin_service(self) -> None:
        """Start the service, unless it runs."""
        if self._service is None or self._service.ended:
            log = self.settings.home / "logs" / "service.log"
            environment = worker_environment(self.settings, self.fleet.addresses)
            self._service = await start_service(environment, self.fleet.addresses, self._port, log)

    async def begin_workers(self) -> None:
        """Start the workers that do not run."""
        for number in range(WORKERS):
            await self._begin(number)

    @property
    def targets(self) -> list[Target]:
        """What can be disturbed now: what is not being disturbed already."""
        services = (SERVICE,) if self._service else ()
        return [one for one in (*range(WORKERS), *services, *Server) if one not in self._busy]

    def processes(self, target: Target) -> set[int]:
        """Return the workers whose work a blow at a target cuts off: a worker its own, anything else that of all."""
        workers = self._workers.values() if not isinstance(target, int) else [self._workers[target]]
        return {child.pid for child in workers}

    @property
    def ended_workers(self) -> list[int]:
        """Those that do not run, though nobody ended them."""
        return [number for number, child in self._workers.items() if child.ended and number not in self._busy]

    async def kill(self, target: Target) -> None:
        """SIGKILL a target, and start it again."""
        child = self._child(target)

        async def killed() -> None:
            child.signal(signal.SIGKILL)
            await child.wait()

        await self._begun_again_after(target, killed())

    async def restart(self, target: Target) -> None:
        """SIGTERM a target, wait until it has ended, and start it again, as an upgrade does."""
        await self._begun_again_after(target, self._child(target).stop(STOP_WITHIN))

    async def hang(self, target: Target, seconds: float) -> None:
        """SIGSTOP a target, and wake it after some seconds."""
        self._busy.add(target)
        child = self._child(target)
        try:
            child.signal(signal.SIGSTOP)
            note_stop(self._ledger, child.pid, "stopped")
            await asyncio.sleep(seconds)
        finally:
            note_stop(self._ledger, child.pid, "woken")
            child.signal(signal.SIGCONT)
            self._busy.discard(target)

    async def stop(self) -> None:
        """Stop the workers and the service; the servers are stopped by who started them."""
        for child in (*self._workers.values(), *filter(None, [self._service])):
            await child.stop(STOP_WITHIN)

    async def _begun_again_after(self, target: Target, end: Awaitable[None]) -> None:
        self._busy.add(target)
        child = self._child(target)
        try:
            await end
            if isinstance(target, Server):
                await self.fleet.start(target)
            elif isinstance(target, str):
                await self.begin_service()
            else:
                note_death(self._ledger, child.pid)
                await self._begin(target)
        finally:
            self._busy.discard(target)

    def _child(self, target: Target) -> Child:
        if isinstance(target, Server):
            return self.fleet.child(target)
        if isinstance(target, int):
            return self._workers[target]
        assert self._service is not None
        return self._service

    async def _begin(self, number: int) -> None:
        child = self._workers.get(number)
        if child is None or child.ended:
            log = self.settings.home / "logs" / f"worker-{number}.log"
            environment = worker_environment(self.settings, self.fleet.addresses)
            self._workers[number] = await start_worker(environment, self.fleet.addresses, log)


@asynccontextmanager
async def site(home: Path, ledger: Path) -> AsyncGenerator[Site]:
    """Start an installation of its own, and stop it in the end."""
    here = Path(__file__).parent
    settings = Settings().changed(
        home=home, tools=("chaos.tools",), skills=(here / "skills",), forgetting_cron="off", task_queue="chaos"
    )
    fleet = Fleet(settings, find_all(settings, print), print)
    one = Site(settings, fleet, ledger)
    try:
        await fleet.start_all()
        await one.begin_workers()
        yield one
    finally:
        await one.stop()
        await fleet.stop_all()
