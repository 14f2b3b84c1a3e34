"""The HTTP service as its clients reach it: over a real socket, before a whole worker on the real servers."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
from fastapi import FastAPI

from perdure.settings import Addresses
from perdure.values.access_tokens import TokenRequest, TokenScope
from perdure.values.changes import Actor, ActorKind
from tests.deployment import Deployment, deployment
from worker.access import local_token
from worker.gateway import Gateway
from worker.http.app import make_app
from worker.http.server import HttpServer, configured

ADMIN = Actor(kind=ActorKind.PERSON, id="admin")
ALL = tuple(TokenScope)


class Quiet(HttpServer):
    """A server that leaves this process's signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@dataclass(frozen=True, kw_only=True)
class Service:
    """A running service."""

    url: str
    app: FastAPI
    gateway: Gateway
    here: Deployment

    async def token(self, *scopes: TokenScope, **fields: Any) -> str:
        """Make a token, and return its text."""
        request = TokenRequest(name=fields.pop("name", "test"), scopes=scopes or ALL, **fields)
        return (await self.gateway.create_token(request, by=ADMIN)).text

    @property
    def local(self) -> str:
        """The token of this machine."""
        return local_token.made(self.here.settings).read_text().strip()

    async def client(self, *scopes: TokenScope, **fields: Any) -> httpx2.AsyncClient:
        """Return a client with a token of its own."""
        return self.client_with(await self.token(*scopes, **fields))

    def client_with(self, token: str) -> httpx2.AsyncClient:
        """Return a client that sends a token."""
        headers = {"Authorization": f"Bearer {token}"}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=60, trust_env=False)


@asynccontextmanager
async def http_service(
    servers: Addresses, folder: Path, *, settings: Mapping[str, Any] | None = None, local: bool = True, **more: Any
) -> AsyncGenerator[Service]:
    """Run a worker and a service for as long as the block lasts.

    Args:
        servers: The real servers.
        folder: The data folder.
        settings: More settings, by name.
        local: Whether this machine's token counts.
        **more: More of ``deployment``.
    """
    async with deployment(servers, folder, settings=settings, **more) as here:
        gateway = Gateway(here.settings, servers)
        app = make_app(here.settings, gateway, local=local)
        async with answering(app) as (host, port):
            yield Service(url=f"http://{host}:{port}", app=app, gateway=gateway, here=here)


@asynccontextmanager
async def answering(app: Any) -> AsyncGenerator[tuple[str, int]]:
    """Serve an application as the service is served, for as long as the block lasts; gives the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ending = app.state.ending if isinstance(app, FastAPI) else asyncio.Event()
        server = Quiet(configured(app), "", ending)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            assert not running.done()
            await asyncio.sleep(0.01)
        try:
            yield listening.getsockname()
        finally:
            server.should_exit = True
            await running


def memory_item(text: str) -> dict[str, Any]:
    """Return an item that states something."""
    return {"kind": "memory", "content": text, "occurrence": uuid4().hex}


async def posted(client: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> httpx2.Response:
    """Send a request that may be sent twice, again for as long as the service says that it cannot be answered now."""
    async with asyncio.timeout(30):
        while (answer := await client.post(path, json=body)).status_code == 503:
            await asyncio.sleep(float(answer.headers["Retry-After"]))
    return answer


async def remembered(client: httpx2.AsyncClient, text: str, **who: str) -> str:
    """Have something remembered, and return its id."""
    sent = await client.post("/v2/control/ingest", json={"items": [memory_item(text)], **who})
    assert sent.status_code == 202, sent.text
    found = await client.get(sent.headers["Location"], params={"wait": 30, **who})
    assert found.status_code == 200, found.text
    assert found.json()["status"] == "done", found.text
    return str(found.json()["receipt"]["items"][0]["id"])
