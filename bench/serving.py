"""A worker of the product for one measurement, on a task queue of its own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from temporalio.client import Client

from perdure.settings import Addresses, Settings
from perdure.temporal.connection import connected
from worker.process import make_worker
from worker.wiring import Services, open_services


class Serving(NamedTuple):
    """What a measurement asks, and what serves it."""

    client: Client
    services: Services
    settings: Settings


@asynccontextmanager
async def serving(addresses: Addresses, **changes: Any) -> AsyncGenerator[Serving]:
    """Serve for as long as the block runs, with a warm model and some settings changed."""
    settings = Settings().changed(task_queue=f"bench-{uuid4().hex[:8]}", **changes)
    client = await connected(addresses.temporal)
    async with open_services(settings, addresses) as services:
        await services.belongs()
        await services.prepare()
        await services.embedder.embed(["warm"])
        async with make_worker(client, services, settings):
            yield Serving(client, services, settings)
