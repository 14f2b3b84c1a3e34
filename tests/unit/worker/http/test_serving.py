"""Where the service listens, and how."""

import asyncio
import socket

import pytest

from perdure.settings import Settings
from worker.http.serving import is_loopback, listening_on


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_what_only_this_machine_reaches(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


async def test_no_answer_waits_for_the_acknowledgement_of_its_first_part() -> None:
    found: list[int] = []

    class Told(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            found.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    with listening_on(Settings(http_port=0)) as listening:
        server = await asyncio.get_running_loop().create_server(Told, sock=listening)
        _, writer = await asyncio.open_connection(*listening.getsockname())
        while not found:
            await asyncio.sleep(0.01)
        writer.close()
        server.close()
    assert found == [1]
