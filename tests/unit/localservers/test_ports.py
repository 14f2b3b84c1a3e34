import socket

import pytest

from localservers.ports import HIGHEST, LOWEST, choose, is_free

ANY = (("a",), ("b",), ("c", "d"))


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
