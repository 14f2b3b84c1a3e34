"""Clients that follow a task and never read: they hold little memory, and nothing for long."""

import asyncio
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
import pytest

from perdure.values.tasks import Progress
from tests.conftest import Servers
from tests.support.http_service import ADMIN, Service, answering
from tests.support.waiting import until, until_true
from worker.gateway import Gateway
from worker.http import connections, event_stream
from worker.http.app import make_app

SIZE = 1_000_000
"""Bytes of each event."""

MOST = 30
"""Events that buffers on the way may take, the system's among them."""


@dataclass
class News:
    """The progress of a task: another one whenever it is looked at, and large."""

    progress: Progress
    looks: int = 0

    async def look(self, *_: object, **__: object) -> Progress:
        """Return what the gateway returns."""
        self.looks += 1
        return self.progress.changed(step=f"{self.looks}{'x' * SIZE}")

    async def stands_still(self) -> bool:
        """Return whether nobody has looked for a while."""
        before = self.looks
        await asyncio.sleep(0.5)
        return 0 < before == self.looks


@pytest.fixture
async def task(ada: httpx2.AsyncClient) -> str:
    body = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"}
    return str((await ada.post("/v2/control/tasks", json=body)).json()["workflow_id"])


@pytest.fixture
async def news(service: Service, task: str, monkeypatch: pytest.MonkeyPatch) -> News:
    """What there is to tell of the task, without a pause."""
    monkeypatch.setattr(event_stream, "EVERY", 0.0)
    progress = await until(lambda: service.gateway.progress(task, by=ADMIN), lambda one: one is not None)
    assert progress is not None
    return News(progress)


@contextmanager
def unread(url: str, task: str, ada: httpx2.AsyncClient) -> Generator[None]:
    """Follow a task over a connection from which nothing is read."""
    address = urlsplit(url)
    with socket.socket() as stalled:
        # So that the system takes little of what is sent.
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        stalled.connect((address.hostname, address.port))
        head = f"GET /v2/control/tasks/{task}/events HTTP/1.1\r\nHost: x\r\n"
        stalled.sendall(f"{head}Authorization: {ada.headers['Authorization']}\r\n\r\n".encode())
        yield


@pytest.mark.slow
async def test_who_never_reads_a_stream_holds_little_memory_and_is_cut_off(
    service: Service, ada: httpx2.AsyncClient, task: str, news: News, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STALLS_AT_MOST", 2.0)
    monkeypatch.setattr(service.gateway, "progress", news.look)
    streams = service.app.state.streams
    with unread(service.url, task, ada):
        await until_true(lambda: news.looks > 0)
        assert streams.taken == 1
        await until_true(lambda: streams.taken == 0, seconds=20)
    assert news.looks < MOST
    # The control: who reads is told as much as there is.
    read = 0
    async with ada.stream("GET", f"/v2/control/tasks/{task}/events") as answer:
        async for part in answer.aiter_bytes():
            read += len(part)
            if read > 2 * MOST * SIZE:
                break
    assert read > 2 * MOST * SIZE
    monkeypatch.undo()
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})


@pytest.mark.slow
async def test_the_service_stops_although_a_stream_is_never_read(
    service: Service,
    servers: Servers,
    ada: httpx2.AsyncClient,
    task: str,
    news: News,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gateway: Any = Gateway(service.here.settings, servers)
    monkeypatch.setattr(gateway, "progress", news.look)
    app = make_app(service.here.settings, gateway, local=True)
    clock = asyncio.get_running_loop().time
    with ExitStack() as following:
        async with answering(app) as (host, port):
            following.enter_context(unread(f"http://{host}:{port}", task, ada))
            await until(news.stands_still, bool)
            assert app.state.streams.taken == 1
            stopped = clock()
        assert clock() - stopped < 10
        # The client is still there: it is not its end that ended the stream.
        await until_true(lambda: app.state.streams.taken == 0, seconds=5)
    assert news.looks < MOST
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})
