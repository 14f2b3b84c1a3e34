"""What a client may send that nobody should: a clear problem each, and the service goes on."""

import asyncio
import contextlib
import json
import socket
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.integration.worker.http.test_tasks import started
from tests.support.http_service import ADMIN, Service, answering, memory_item
from tests.support.waiting import until, until_true
from worker import audits
from worker.http import connections, limits, request_log
from worker.http.admission import RequestAdmission
from worker.http.request_places import RequestPlaces

INGEST, QUERY = "/v2/control/ingest", "/v2/control/query"


def address(service: Service) -> tuple[str, int]:
    host, _, port = service.url.removeprefix("http://").partition(":")
    return host, int(port)


async def raw(service: Service, text: bytes, *, seconds: float = 10) -> bytes:
    """Send bytes, and return what comes back until the connection ends."""
    reader, writer = await asyncio.open_connection(*address(service))
    writer.write(text)
    await writer.drain()
    try:
        async with asyncio.timeout(seconds):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "headers", "status", "code", "says"),
    [
        (b"", {}, 422, "PRD100", "body"),
        (b"{", {}, 400, "PRD510", "not JSON"),
        (b"not JSON", {}, 400, "PRD510", "not JSON"),
        (b"[]", {}, 422, "PRD100", "body"),
        (b"null", {}, 422, "PRD100", "body"),
        (b'"text"', {}, 422, "PRD100", "body"),
        (b"\xff\xfe{}", {}, 400, "PRD510", "UTF-8"),
        (b'{"items": [NaN]}', {}, 400, "PRD510", "NaN"),
        (b'{"items": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", {}, 400, "PRD510", "nested"),
        (b'{"items": [' + b"9" * 5_000 + b"]}", {}, 400, "PRD510", ""),
        (b"{}", {}, 422, "PRD100", "items"),
        (b'{"items": []}', {}, 422, "PRD100", "items"),
        (b'{"itms": []}', {}, 422, "PRD100", "did you mean 'items'?"),
        (b'{"items": [1], "by": {"kind": "person", "id": "root"}}', {}, 422, "PRD100", "by: is not a field here"),
        (b'{"items": [1], "asked_at": "2020-01-01T00:00:00Z"}', {}, 422, "PRD100", "asked_at: is not a field here"),
        (
            b'{"items": [{"kind": "memory", "content": "It rains."}], '
            b'"recorded": ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]}',
            {},
            422,
            "PRD100",
            "has 2 moments for 1 item",
        ),
        (b'{"items": [1], "session": "s"}', {}, 422, "PRD100", "session: is not a field here"),
        (b'{"items": [{"kind": "memory", "content": "a\\ud800b"}]}', {}, 422, "PRD100", "surrogate"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "PRD514", "JSON"),
        (b"{}", {"Content-Type": "application/json; charset=latin-1"}, 415, "PRD514", "UTF-8"),
        (b"{}", {"Content-Encoding": "gzip"}, 415, "PRD514", "compressed"),
        (b"x" * (limits.MOST_BYTES + 1), {}, 413, "PRD513", "2,000,000"),
    ],
    ids=lambda value: repr(value[:16]) if isinstance(value, bytes) else None,
)
async def test_a_bad_body_is_refused_with_what_is_wrong(
    ada: httpx2.AsyncClient, body: bytes, headers: dict[str, str], status: int, code: str, says: str
) -> None:
    answer = await ada.post(INGEST, content=body, headers={"Content-Type": "application/json"} | headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert says in answer.json()["detail"]
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["X-Request-Id"] == answer.json()["request"]


async def test_fifty_megabytes_are_not_read(service: Service, ada: httpx2.AsyncClient) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for _ in range(50):
            yield b"x" * 1_000_000

    try:
        answer = await ada.post(INGEST, content=pieces(), headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (413, "PRD513")
    except (httpx2.WriteError, httpx2.ReadError):
        pass  # Who still sends may find the connection closed before the answer is read.
    head = (
        f"POST {INGEST} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.local}\r\n"
        "Content-Type: application/json\r\nContent-Length: 50000000\r\n\r\n"
    )
    assert (await raw(service, head.encode())).startswith(b"HTTP/1.1 413 ")


async def test_an_item_that_is_wrong_is_named(ada: httpx2.AsyncClient) -> None:
    items = [memory_item("fine"), {"kind": "memory", "content": "", "occurrence": "x"}]
    sent = await ada.post(INGEST, json={"items": items})
    assert sent.status_code == 202, "as on the command line, one bad item does not keep the good ones out"
    receipt = (await ada.get(sent.headers["Location"], params={"wait": 30})).json()["receipt"]
    assert [one["fate"] for one in receipt["items"]] == ["searchable", "rejected"]
    assert "content" in receipt["items"][1]["reason"]


@pytest.mark.parametrize(
    "path",
    [
        "/v2/control/memories/..%2f..%2fetc%2fpasswd",
        "/v2/control/memories/%2e%2e/status",
        "/v2/control/memories/a%00b",
        "/v2/control/memories/%ff%fe",
        "/v2/control/memories/" + "x" * 201,
        "/v2/control/tasks/task-a%0d%0aX-Injected:%20yes",
        "/v2/control/tasks/a%2fb",
        "/v2/control/tasks/..%2f..%2fcontrol%2fskills",
        "/v2/control%2fskills",
        "/v2%2fcontrol%2fskills",
        "/v2/control/ingest/jobs/' OR TRUE --",
        "/v2/control/skills/..%2f..%2fpyproject",
        "//v2/control/status",
        "/v2/control/status/",
        "/v2/control/memories/{memory_id}",
    ],
)
async def test_a_path_leads_nowhere_else(ada: httpx2.AsyncClient, path: str) -> None:
    answer = await ada.get(path)
    assert answer.status_code in (404, 422), answer.text
    assert "X-Injected" not in answer.headers
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("identifier", ["a b", "a\tb", "x" * 81, "ä", "<script>", "a;b"])
async def test_a_request_id_that_is_none_is_replaced(ada: httpx2.AsyncClient, identifier: str) -> None:
    sent = [("X-Request-Id", identifier.encode("latin-1"))]
    answer = await ada.get("/v2/control/skills", headers=[(name.encode(), value) for name, value in sent])
    assert answer.status_code == 200
    assert answer.headers["X-Request-Id"].isalnum()
    kept = await ada.get("/v2/control/skills", headers={"X-Request-Id": "order-7.a_b"})
    assert kept.headers["X-Request-Id"] == "order-7.a_b"


@pytest.mark.slow
async def test_headers_that_would_inject_are_not_taken(service: Service) -> None:
    head = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: a\r\n b\r\n"
    answer = await raw(service, f"{head}Authorization: Bearer {service.local}\r\n\r\n".encode())
    assert b"a\r\n b" not in answer
    for bad in (
        b"GET /v2/control/status HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x00",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ):
        refused = await raw(service, bad)
        assert refused[:10] == b"HTTP/1.1 4", refused[:80]


@pytest.mark.parametrize("value", ["<script>alert(1)</script>", '"; DROP TABLE', "{{7*7}}", "\u202eabc", "😀" * 50])
async def test_a_text_is_content_and_nothing_else(ada: httpx2.AsyncClient, value: str) -> None:
    content = f"The motto of the team is {value}"
    sent = await ada.post(INGEST, json={"items": [memory_item(content)]})
    await ada.get(sent.headers["Location"], params={"wait": 30})
    answer = await ada.get("/v2/control/memories")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert [one["text"] for one in answer.json()["memories"]] == [content]


async def test_a_body_that_never_comes_is_not_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WITHIN", 0.5)
    head = (
        f"POST {QUERY} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.local}\r\n"
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"text'
    )
    answer = await raw(service, head.encode())
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "PRD515"


async def test_bodies_of_those_without_a_token_that_never_come_keep_nobody_out(
    service: Service, ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OPEN_WITHIN", 1.0)
    monkeypatch.setattr(request_log, "MOST_AT_ONCE", limits.OPEN_OF_ONE + 5)
    head = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
    number = 2 * limits.OPEN_OF_ONE
    *answers, answered = await asyncio.gather(*(raw(service, head) for _ in range(number)), read_skills(ada))
    assert answered.startswith(b"HTTP/1.1 200 ")
    assert Counter(one[9:12] for one in answers) == {b"408": limits.OPEN_OF_ONE, b"429": limits.OPEN_OF_ONE}


async def read_skills(client: httpx2.AsyncClient) -> bytes:
    return f"HTTP/1.1 {(await client.get('/v2/control/skills')).status_code} ".encode()


async def test_one_user_cannot_take_all_places(
    service: Service, ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission_of(service), "_of_one", 2)
    place = f"/v2/control/tasks/{await started(ada, 'ask-first')}"
    waiting = [asyncio.create_task(ada.get(place, params={"wait": 60})) for _ in range(2)]
    await until_true(lambda: admission_of(service).taken == 2)
    refused = await ada.get("/v2/control/skills")
    assert (refused.status_code, refused.json()["code"]) == (429, "PRD502")
    async with await service.client(user_id="kim") as kim:
        assert (await kim.get("/v2/control/skills")).status_code == 200
    monkeypatch.undo()
    await ada.post(f"{place}/cancel", json={})
    assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}
    # The control: what has ended takes no place.
    assert admission_of(service).taken == 0


def admission_of(service: Service) -> RequestPlaces:
    """Return the places that requests under way take, behind the middlewares in front of the routes."""
    here: Any = service.app.middleware_stack
    while not isinstance(here, RequestAdmission):
        here = next(getattr(here, name) for name in ("app", "_app") if hasattr(here, name))
    return here._under_way  # pyright: ignore[reportPrivateUsage]


@pytest.mark.slow
async def test_a_connection_that_says_nothing_is_closed_and_others_are_answered(
    service: Service, ada: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BEGINS_WITHIN", 1.0)
    idle = [await asyncio.open_connection(*address(service)) for _ in range(200)]
    slow, slow_writer = await asyncio.open_connection(*address(service))
    slow_writer.write(b"GET /livez HTTP/1.1\r\nHost:")
    assert (await ada.get("/v2/control/skills")).status_code == 200
    for reader, writer in [*idle, (slow, slow_writer)]:
        with pytest.raises((ConnectionError, AssertionError)):
            assert await asyncio.wait_for(reader.read(), 10) != b""
        writer.close()
    # The control: one that is used stays longer, although its client says nothing for a while.
    reader, writer = await asyncio.open_connection(*address(service))
    for pause in (0, 1.5):
        await asyncio.sleep(pause)
        writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await asyncio.wait_for(reader.readuntil(b'"ok"}'), 10)).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_who_never_reads_an_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALLS_AT_MOST", 1.0)
    sent, cut_off = 0, asyncio.Event()

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        nonlocal sent
        await receive()
        leaving = asyncio.create_task(receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while sent < 200 and not leaving.done():
            # It waits while the client does not read: nothing is queued for it beyond a few buffers.
            await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": True})
            sent += 1
        assert (await leaving)["type"] == "http.disconnect"
        cut_off.set()

    async with answering(endless) as place:
        with socket.create_connection(place) as stalled:
            stalled.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await asyncio.wait_for(cut_off.wait(), 10)
            assert 0 < sent < 50
            stalled.settimeout(5)
            received = 0
            with contextlib.suppress(ConnectionResetError):
                while part := stalled.recv(65_536):
                    received += len(part)
    assert received < 50_000_000, "it got what was in buffers, and no more"


@pytest.mark.slow
async def test_too_many_streams_are_refused_before_they_begin(
    service: Service, ada: httpx2.AsyncClient, user: str
) -> None:
    body = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"}
    task = (await ada.post("/v2/control/tasks", json=body)).json()["workflow_id"]
    path = f"/v2/control/tasks/{task}/events"
    async with httpx2.AsyncClient(base_url=service.url, headers=ada.headers, timeout=60, trust_env=False) as client:
        open_: list[Any] = []
        for _ in range(20):
            stream = client.stream("GET", path)
            open_.append(stream)
            assert (await stream.__aenter__()).status_code == 200
        refused = await ada.get(path, headers={"X-Request-Id": "one-too-many"})
        assert (refused.status_code, refused.json()["code"], refused.headers["Retry-After"]) == (429, "PRD502", "5")

        async def decided() -> list[str]:
            lines = await audits.show(service.here.settings, user, None, None, ADMIN)
            return [one.kind.value for one in lines if one.operation == "one-too-many"]

        assert await until(decided, lambda found: len(found) > 1) == ["admitted", "turned_away"]
        for stream in open_:
            await stream.__aexit__(None, None, None)
    await ada.post(f"/v2/control/tasks/{task}/cancel", json={})
