import itertools
import socket
from importlib import resources
from pathlib import Path

import pytest

from localservers.commands import HIGHEST, LOWEST, PORTS, Command, choose, command, is_free
from localservers.recipes import Server, recipe
from perdure.names import Attribute

ANY = (("a",), ("b",), ("c", "d"))


def made(server: Server) -> Command:
    return command(server, Path("/bin/x"), choose(PORTS[server], {}, free=lambda _: True), Path("/data"), "the-key")


def pairs(server: Server) -> set[tuple[str, str]]:
    arguments = made(server).arguments
    return set(itertools.pairwise(arguments))


def test_redis_syncs_every_write_and_evicts_nothing() -> None:
    assert pairs(Server.REDIS) >= {
        ("--appendonly", "yes"),
        ("--appendfsync", "always"),
        ("--maxmemory-policy", "noeviction"),
        ("--save", ""),
        ("--bind", "127.0.0.1"),
    }


def test_temporal_is_fast_and_knows_the_search_attributes() -> None:
    assert pairs(Server.TEMPORAL) >= {
        ("--sqlite-pragma", "journal_mode=wal"),
        ("--sqlite-pragma", "synchronous=normal"),
        ("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
        ("--dynamic-config-value", 'history.timerProcessorMaxTimeShift="100ms"'),
        ("--dynamic-config-value", 'history.transferProcessorUpdateAckInterval="1s"'),
        ("--ip", "127.0.0.1"),
        *(("--search-attribute", f"{key.value}=Keyword") for key in Attribute),
    }


def test_weaviate_asks_for_its_key_and_its_raft_ports_follow_each_other() -> None:
    environment = made(Server.WEAVIATE).environment

    assert environment["AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED"] == "false"
    assert environment["AUTHENTICATION_APIKEY_ALLOWED_KEYS"] == "the-key"
    assert int(environment["RAFT_INTERNAL_RPC_PORT"]) == int(environment["RAFT_PORT"]) + 1
    assert "the-key" not in " ".join(made(Server.WEAVIATE).arguments)


@pytest.mark.parametrize("server", Server)
def test_every_server_has_a_way_and_an_advice(server: Server) -> None:
    known = recipe(server)

    assert known.programs
    assert known.install
    if known.go and known.go.module:
        module = resources.files("localservers") / "modules" / known.go.module
        assert "module " in (module / "go.mod").read_text()
        assert (module / "go.sum").is_file()


def test_each_name_gets_a_port_of_its_own_and_groups_follow_each_other() -> None:
    ports = choose(ANY, {}, free=lambda _: True)

    assert len(set(ports.values())) == 4
    assert ports["d"] == ports["c"] + 1
    assert all(LOWEST <= port <= HIGHEST for port in ports.values())


def test_remembered_ports_are_taken_again() -> None:
    remembered = {"a": 20_001, "b": 20_002, "c": 20_003, "d": 20_004}

    assert choose(ANY, remembered, free=lambda _: True) == remembered


def test_a_taken_port_is_replaced_and_said() -> None:
    remembered = {"a": 20_001, "b": 20_002, "c": 20_003, "d": 20_004}
    said: list[str] = []

    ports = choose(ANY, remembered, free=lambda port: port != 20_004, say=said.append)

    assert (ports["a"], ports["b"]) == (20_001, 20_002)
    assert ports["c"] != 20_003
    assert ports["d"] == ports["c"] + 1
    assert said == [f"port 20003 of c is taken; using {ports['c']} instead"]


def test_no_free_port_is_an_error() -> None:
    with pytest.raises(OSError, match="is free"):
        choose(ANY, {}, free=lambda _: False)


def test_a_port_with_a_listener_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)
