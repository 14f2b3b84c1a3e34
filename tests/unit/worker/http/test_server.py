"""Where the service listens, and how."""

import asyncio
import socket
from pathlib import Path

import pytest

from localservers import FleetState
from perdure.errors import InvalidInput
from perdure.settings import Addresses, Settings
from tests.conftest import clean_settings
from worker.http.server import is_loopback, listening_on, serve

ADDRESSES = Addresses(temporal="h:1", weaviate_url="http://h:2", weaviate_grpc_port=3, redis_url="redis://h:4")


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


@pytest.mark.parametrize("setting", ["write_policies", "retention_rules"])
def test_a_service_whose_settings_name_a_file_that_cannot_be_used_does_not_start(tmp_path: Path, setting: str) -> None:
    (tmp_path / "bad.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"bad\.yaml"):
        serve(clean_settings(tmp_path, http_port=0, **{setting: tmp_path / "bad.yaml"}))


def test_a_service_whose_embedding_model_cannot_be_used_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no model 'nonsense'"):
        serve(clean_settings(tmp_path, http_port=0, embedding="nonsense"))


def test_the_service_that_up_started_is_named_where_it_has_the_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        own = FleetState(pid=1, addresses=ADDRESSES, service_url=f"http://127.0.0.1:{port}")

        def state(_: Settings) -> FleetState:
            return own

        monkeypatch.setattr("worker.http.server.state", state)
        with pytest.raises(InvalidInput, match=rf"own service listens there already: {own.service_url}"):
            listening_on(Settings(http_port=port, home=tmp_path))
