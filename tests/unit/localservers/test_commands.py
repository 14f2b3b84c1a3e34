import errno
import itertools
from pathlib import Path

import pytest

from localservers.cache import unusable
from localservers.commands import PORTS, SEARCH_ATTRIBUTES, Command, command
from localservers.ports import choose
from localservers.processes import trim
from localservers.recipes import Server, recipe


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
        ("--ip", "127.0.0.1"),
        *(("--search-attribute", f"{name}=Keyword") for name in SEARCH_ATTRIBUTES),
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


def test_a_full_disk_is_told_from_a_forbidden_one() -> None:
    folder = Path("/somewhere")

    assert "free some space" in str(unusable(folder, OSError(errno.ENOSPC, "No space left on device")))
    assert "make it writable" in str(unusable(folder, PermissionError(errno.EACCES, "Permission denied")))


def test_a_log_is_trimmed_under_its_writer(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 100)
        trim(log, limit=50)
        writer.write(b"after")

    assert log.read_bytes() == b"after"
    assert (tmp_path / "a.log.1").read_bytes() == b"x" * 100
