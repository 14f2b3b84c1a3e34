"""Whether probes, and whoever runs the service, are told the truth about its components."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.conftest import Servers, clean_settings, give_tenant_key, journal_of
from tests.support.http_service import answering
from worker.access import local_token
from worker.gateway import Gateway
from worker.http.app import make_app
from worker.http.status import Readiness


@pytest.mark.slow
async def test_probes_that_ask_at_once_are_all_told_what_is_missing(servers: Servers, tmp_path: Path) -> None:
    give_tenant_key(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        away = servers.changed(redis_url=f"redis://127.0.0.1:{silent.getsockname()[1]}")
        async with Gateway(clean_settings(tmp_path), away) as gateway:
            readiness = Readiness(gateway)
            assert await asyncio.gather(readiness.missing(), readiness.missing()) == [["redis"], ["redis"]]


@asynccontextmanager
async def forwarded(url: str) -> AsyncGenerator[tuple[str, Callable[[], None]]]:
    """Yield another address of a server, and a function that makes it unreachable."""
    place = urlsplit(url)
    writers: list[asyncio.StreamWriter] = []

    async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
        writer.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, ahead = await asyncio.open_connection(place.hostname, place.port)
        writers.extend((writer, ahead))
        await asyncio.gather(copied(reader, ahead), copied(behind, writer), return_exceptions=True)

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()

    def gone() -> None:
        server.close()
        for one in writers:
            one.close()

    try:
        yield f"http://{host}:{port}", gone
    finally:
        gone()


async def test_the_status_says_since_when_a_component_is_away(servers: Servers, tmp_path: Path) -> None:
    give_tenant_key(tmp_path)
    settings = clean_settings(tmp_path, journal=journal_of(servers, tmp_path))
    async with forwarded(servers.weaviate_url) as (url, take_away):
        gateway = Gateway(settings, servers.changed(weaviate_url=url))
        async with answering(make_app(settings, gateway, local=True, measured_here=False)) as (host, port):
            headers = {"Authorization": f"Bearer {local_token.made(settings).read_text().strip()}"}
            async with httpx2.AsyncClient(base_url=f"http://{host}:{port}", headers=headers, trust_env=False) as client:

                async def weaviate() -> dict[str, Any]:
                    answer = await client.get("/v2/control/status")
                    assert answer.status_code == 200, answer.text
                    return next(one for one in answer.json()["components"] if one["component"] == "weaviate")

                first, again = await weaviate(), await weaviate()
                assert (again["reachable"], again["since"]) == (True, first["since"])
                assert again["latency_ms"] > 0
                take_away()
                gone, still = await weaviate(), await weaviate()
                assert (gone["reachable"], gone["latency_ms"]) == (False, None)
                assert "weaviate" in gone["problem"]
                assert gone["since"] > first["since"]
                assert still["since"] == gone["since"]
                # Recall answers from the journal meanwhile.
                assert (await client.get("/readyz")).status_code == 200
                # What is measured is sent elsewhere.
                unmeasured = await client.get("/metrics")
                assert (unmeasured.status_code, "OTLP" in unmeasured.json()["detail"]) == (404, True)
