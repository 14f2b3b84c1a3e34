"""A network on which answers are lost: what was asked has reached the service, and nobody hears so."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class Losing:
    """A way to a service on which answers can be lost."""

    url: str = ""
    lost: int = 0
    """How many more answers are lost."""
    lose_all: bool = False
    refused: int = 0
    """How many were lost so far."""


@asynccontextmanager
async def losing(url: str) -> AsyncGenerator[Losing]:
    """Pass connections on to a service for as long as the block lasts."""
    parts, way = urlsplit(url), Losing()
    passing: set[asyncio.Task[None]] = set()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(parts.hostname, parts.port)
        asking = asyncio.create_task(_pump(reader, back))
        try:
            with contextlib.suppress(ConnectionError):
                while part := await there.read(65_536):
                    if way.lost or way.lose_all:
                        way.lost, way.refused = max(0, way.lost - 1), way.refused + 1
                        break
                    writer.write(part)
                    await writer.drain()
        finally:
            asking.cancel()
            for one in (writer, back):
                one.transport.abort()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(pass_on(reader, writer))
        passing.add(task)
        task.add_done_callback(passing.discard)

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        way.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield way
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()
