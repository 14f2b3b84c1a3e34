"""A whole worker on the real servers, wired as the product wires it, in this process."""

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client

from perdure.errors import EmbeddingMismatch, StoreUnavailable
from perdure.settings import Addresses, Settings
from perdure.temporal.plugin import Plugin
from tests.conftest import clean_settings, give_tenant_key, journal_of
from worker.plugin import WORKFLOWS, WorkerPlugin
from worker.process import make_worker
from worker.wiring.activities import activities
from worker.wiring.services import Services, open_services


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What a test of workflows needs."""

    client: Client
    services: Services
    settings: Settings

    @property
    def queue(self) -> str:
        """The task queue that the worker serves."""
        return self.settings.task_queue


@asynccontextmanager
async def deployment(
    servers: Addresses,
    folder: Path,
    *,
    queue: str = "",
    serving: bool = True,
    settings: Mapping[str, Any] | None = None,
    more_workflows: Sequence[type] = (),
    more_activities: Sequence[Callable[..., Any]] = (),
    **worker: Any,
) -> AsyncGenerator[Deployment]:
    """Run a worker for as long as the block lasts.

    Args:
        servers: The real servers.
        folder: The data folder.
        queue: The task queue; a new one if not given.
        serving: Whether there is a worker at all.
        settings: More settings, by name.
        more_workflows: Served next to Perdure's.
        more_activities: Served next to Perdure's.
        **worker: Options of the worker itself.
    """
    values = {"journal": journal_of(servers, folder)} | dict(settings or {})
    chosen = clean_settings(folder, task_queue=queue or f"q-{uuid4().hex[:12]}", **values)
    give_tenant_key(folder)
    client = await Client.connect(servers.temporal, plugins=[Plugin()])
    async with open_services(chosen, servers) as services:
        for check in (services.belongs, services.prepare):
            with contextlib.suppress(StoreUnavailable, EmbeddingMismatch):
                await check()
        deployed = Deployment(client=client, services=services, settings=chosen)
        if not serving:
            yield deployed
            return
        served = WorkerPlugin([*activities(services, client, chosen), *more_activities], [*WORKFLOWS, *more_workflows])
        async with make_worker(client, services, chosen, served, **worker):
            yield deployed
