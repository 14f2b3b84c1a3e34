"""Another installation's memory, from the settings."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from activities.remote_memory import RemoteMemory
from perdure.client.client import Client
from perdure.settings import Settings


@asynccontextmanager
async def memory_elsewhere(settings: Settings) -> AsyncGenerator[RemoteMemory | None]:
    """Open the memory of another installation that tasks use; None where they use this one's."""
    if settings.memory_url is None or settings.memory_token is None:
        yield None
        return
    async with Client(settings.memory_url, settings.memory_token) as client:
        yield RemoteMemory(client, settings.recall_seconds)
