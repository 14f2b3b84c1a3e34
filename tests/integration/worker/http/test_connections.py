"""Connections that keep others out: requests that never end. And slow clients that do nothing wrong."""

import asyncio
import contextlib
import gc
import socket
import struct
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.support.http_service import Quiet, Service, answering
from tests.support.waiting import until_true
from worker.http import connections, request_log
from worker.http.request_log import Observing
from worker.http.server import configured

PROBE = b"GET /livez HTTP/1.1\r\nHost: x\r\n"


@asynccontextmanager
async def connected(port: int) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=65_536)
    try:
        yield reader, writer
    finally:
        writer.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "then"),
    [(b"", b"G"), (PROBE + b"\r\n", b"G"), (PROBE + b"Content-Length: 100\r\n\r\n", b"x")],
    ids=["first head", "second head", "body that nobody reads"],
)
async def test_a_request_that_never_ends_keeps_no_connection(
    service: Service, monkeypatch: pytest.MonkeyPatch, first: bytes, then: bytes
) -> None:
    monkeypatch.setattr(connections, "BEGINS_WITHIN", 1.0)
    async with connected(urlsplit(service.url).port or 0) as (reader, writer):
        if first:
            writer.write(first)
            await reader.readuntil(b'"ok"}')
        async with asyncio.timeout(10):
            with contextlib.suppress(ConnectionError):
                while not reader.at_eof():
                    writer.write(then)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(reader.read(100), 0.2)


@pytest.mark.slow
async def test_a_connection_serves_many_requests(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BEGINS_WITHIN", 1.0)
    async with connected(urlsplit(service.url).port or 0) as (reader, writer):
        for _ in range(4):
            # A client that takes its time with each request, and before the next: together more than one may take.
            writer.write(PROBE)
            await asyncio.sleep(0.3)
            writer.write(b"\r\n")
            await asyncio.wait_for(reader.readuntil(b'"ok"}'), 5)
            await asyncio.sleep(0.3)


@pytest.mark.slow
async def test_a_connection_outlasts_the_idle_time_that_clients_give_theirs(service: Service) -> None:
    # httpx reuses one that was idle for up to five seconds: closed by the service then, it would lose a request.
    async with connected(urlsplit(service.url).port or 0) as (reader, writer):
        for idle in (6, 0):
            writer.write(PROBE + b"\r\n")
            await asyncio.wait_for(reader.readuntil(b'"ok"}'), 5)
            await asyncio.sleep(idle)


@pytest.mark.slow
async def test_where_many_are_open_an_idle_one_is_closed_soon(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "KEPT_AMONG_MANY", 0.2)
    for most, is_kept in ((0, False), (1_000_000, True)):
        monkeypatch.setattr(connections, "most_kept", lambda most=most: most)
        async with connected(urlsplit(service.url).port or 0) as (reader, writer):
            writer.write(PROBE + b"\r\n")
            await asyncio.wait_for(reader.readuntil(b'"ok"}'), 5)
            try:
                assert await asyncio.wait_for(reader.read(), 2) == b""
                assert not is_kept
            except TimeoutError:
                assert is_kept, "the control"


async def test_an_idle_connection_keeps_nothing_of_its_last_request_and_one_that_is_reset_nothing_at_all(
    service: Service,
) -> None:
    def held() -> list[connections.PatientProtocol]:
        # Objects of Temporal's sandbox refuse to be asked for their class.
        found = [one for one in gc.get_objects() if type(one) is connections.PatientProtocol]
        return [one for one in found if one.client == place]

    def states() -> list[dict[str, Any]]:
        return [one.cycle.scope.get("state", {}) for one in held()]

    form = b"token=" + b"x" * 60_000
    async with connected(urlsplit(service.url).port or 0) as (reader, writer):
        place = writer.get_extra_info("sockname")
        head = f"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: {len(form)}\r\n"
        writer.write(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\n".encode() + form)
        await asyncio.wait_for(reader.readuntil(b"</html>"), 5)
        # The client may have read it before the service is done with it.
        await until_true(lambda: [("body" in state, state["route"]) for state in states()] == [(False, "POST /login")])
        off = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, off)
    await until_true(lambda: held() == [], seconds=20)


@pytest.mark.slow
async def test_who_reads_slowly_gets_a_large_answer_whole_and_who_reads_nothing_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "STALLS_AT_MOST", 1.0)
    size = 20_000_000

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        length = [(b"content-length", str(size).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await send({"type": "http.response.body", "body": b"x" * size})

    listening = socket.create_server(("127.0.0.1", 0))
    server = Quiet(configured(large, lifespan="off"), "", asyncio.Event())
    running = asyncio.create_task(server.serve(sockets=[listening]))
    await until_true(lambda: server.started)
    port = listening.getsockname()[1]
    async with connected(port) as (reader, writer):
        writer.write(PROBE + b"\r\n")
        await reader.readuntil(b"\r\n\r\n")
        read, began = 0, asyncio.get_running_loop().time()
        while part := await reader.read(200_000):
            read += len(part)
            if read == size:
                break
            # The client is slow: that is what is tested.
            await asyncio.sleep(0.02)
        assert read == size
        assert asyncio.get_running_loop().time() - began > 1, "the control: it took longer than a client may stall"
    await until_true(lambda: not server.server_state.connections)
    async with connected(port) as (reader, writer):
        writer.write(PROBE + b"\r\n")
        await until_true(lambda: bool(server.server_state.connections))
        await until_true(lambda: not server.server_state.connections, seconds=10)
    server.should_exit = True
    await running
    listening.close()


async def test_more_requests_than_it_takes_on_are_told_to_ask_again_and_the_probe_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_log, "MOST_AT_ONCE", 2)
    let = asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/livez":
            await let.wait()
        await Response("done")(scope, receive, send)

    observing = Observing(slow)
    async with answering(observing) as (host, port), httpx2.AsyncClient(trust_env=False) as client:
        place = f"http://{host}:{port}"
        waiting = [asyncio.create_task(client.get(f"{place}/{number}")) for number in range(2)]
        await until_true(lambda: observing._under_way == 2)  # pyright: ignore[reportPrivateUsage]
        # What is merely open counts for nothing.
        async with connected(port), connected(port), connected(port):
            refused = await client.get(f"{place}/3")
            assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
            assert refused.headers["retry-after"]
            assert refused.json()["request"] == refused.headers["x-request-id"]
            assert (await client.get(f"{place}/livez")).text == "done"
        let.set()
        assert [(await one).text for one in waiting] == ["done", "done"]
        assert (await client.get(f"{place}/4")).text == "done", "the control"


IDLE = 10_000

OPENS = """
import socket, sys
place = ("127.0.0.1", int(sys.argv[1]))
idle = [socket.create_connection(place) for _ in range(int(sys.argv[2]))]
print("open", flush=True)
ended = 0
for one in idle:
    one.settimeout(60)
    try:
        ended += one.recv(1) == b""
    except ConnectionError:
        ended += 1
print(ended, flush=True)
"""
"""Opens connections, says nothing, and counts those that the other side ends. A process has files for as many."""


@pytest.mark.slow
async def test_ten_thousand_idle_connections_keep_nobody_out_and_are_ended(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BEGINS_WITHIN", 20.0)
    port = str(urlsplit(service.url).port)
    arguments = [sys.executable, "-c", OPENS, port, str(IDLE)]
    idle = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
    assert idle.stdout is not None
    assert await asyncio.wait_for(idle.stdout.readline(), 15) == b"open\n"
    async with await service.client() as client:
        for path in ("/livez", "/v2/control/skills"):
            assert (await client.get(path, timeout=5)).status_code == 200
    assert int(await asyncio.wait_for(idle.stdout.readline(), 60)) == IDLE
    assert await idle.wait() == 0


async def test_a_service_that_is_told_to_end_a_second_time_waits_for_nobody() -> None:
    begun, ending = asyncio.Event(), asyncio.Event()

    async def hangs(_: Scope, __: Receive, ___: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Quiet(configured(hangs, lifespan="off"), "", ending)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        await until_true(lambda: server.started)
        async with connected(listening.getsockname()[1]) as (_, writer):
            writer.write(PROBE + b"\r\n")
            await begun.wait()
            server.told_to_end()
            await until_true(ending.is_set)
            done, _ = await asyncio.wait({running}, timeout=0.5)
            assert not done, "the control: it waits for what is under way"
            server.told_to_end()
            await asyncio.wait_for(running, 5)
