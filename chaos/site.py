"""What is disturbed: own servers and two workers, each started again whatever becomes of it."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from localservers import Fleet, Server, find_all
from localservers.fleet import start_worker, worker_environment
from localservers.processes import Child
from perdure.settings import Settings

WORKERS = 2


class Site:
    """The processes of one installation.

    Args:
        settings: Its settings; all of its data is in ``home``.
        fleet: Its servers.
    """

    def __init__(self, settings: Settings, fleet: Fleet) -> None:
        self.settings = settings
        self.fleet = fleet
        self._workers: dict[int, Child] = {}
        self._busy: set[Server | int] = set()

    async def begin_workers(self) -> None:
        """Start the workers that do not run."""
        for number in range(WORKERS):
            await self._begin(number)

    @property
    def targets(self) -> list[Server | int]:
        """What can be disturbed now: what is not being disturbed already."""
        return [one for one in (*range(WORKERS), *Server) if one not in self._busy]

    async def kill(self, target: Server | int) -> None:
        """SIGKILL a server or a worker, and start it again."""
        self._busy.add(target)
        try:
            child = self._child(target)
            child.signal(signal.SIGKILL)
            await child.wait()
            if isinstance(target, Server):
                await self.fleet.start(target)
            else:
                await self._begin(target)
        finally:
            self._busy.discard(target)

    async def hang(self, target: Server | int, seconds: float) -> None:
        """SIGSTOP a server or a worker, and wake it after some seconds."""
        self._busy.add(target)
        child = self._child(target)
        try:
            child.signal(signal.SIGSTOP)
            await asyncio.sleep(seconds)
        finally:
            child.signal(signal.SIGCONT)
            self._busy.discard(target)

    async def stop(self) -> None:
        """Stop the workers; the servers are stopped by who started them."""
        for child in self._workers.values():
            await child.stop(15)

    def _child(self, target: Server | int) -> Child:
        return self.fleet.child(target) if isinstance(target, Server) else self._workers[target]

    async def _begin(self, number: int) -> None:
        child = self._workers.get(number)
        if child is None or child.ended:
            log = self.settings.home / "logs" / f"worker-{number}.log"
            environment = worker_environment(self.settings, self.fleet.addresses)
            self._workers[number] = await start_worker(environment, self.fleet.addresses, log)


@asynccontextmanager
async def site(home: Path) -> AsyncGenerator[Site]:
    """Start an installation of its own, and stop it in the end."""
    here = Path(__file__).parent
    settings = Settings().changed(
        home=home, tools=("chaos.tools",), skills=(here / "skills",), forgetting_cron="off", task_queue="chaos"
    )
    fleet = Fleet(settings, find_all(settings, print), print)
    one = Site(settings, fleet)
    try:
        await fleet.start_all()
        await one.begin_workers()
        yield one
    finally:
        await one.stop()
        await fleet.stop_all()
