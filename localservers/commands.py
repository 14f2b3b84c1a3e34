"""How each server is started: its arguments, its environment and its ports."""

import random
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import Field

from localservers.recipes import Server
from perdure.model import Model
from perdure.names import Attribute

LOOPBACK = "127.0.0.1"

PORTS: dict[Server, tuple[tuple[str, ...], ...]] = {
    Server.REDIS: (("redis",),),
    Server.TEMPORAL: (("temporal",), ("temporal-ui",)),
    Server.WEAVIATE: (
        ("weaviate",),
        ("weaviate-grpc",),
        # The only node never finds itself unless its RPC port is its raft port plus one.
        ("weaviate-raft", "weaviate-raft-rpc"),
        ("weaviate-gossip", "weaviate-data"),
    ),
}
"""The ports that each server needs, by the names they are remembered under; a group gets consecutive ports."""

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range from which Linux picks ports for outgoing connections (32768 up), so that none of those takes a
remembered port by accident."""


class Command(Model):
    """How a process is started."""

    arguments: tuple[str, ...]
    environment: dict[str, str] = Field(default_factory=dict)


def command(server: Server, binary: Path, ports: dict[str, int], data: Path, key: str) -> Command:
    """Return the command that starts a server.

    Args:
        server: Which one.
        binary: Its program.
        ports: A port for each name in ``PORTS``.
        data: The existing folder of its data.
        key: The API key that Weaviate requires.
    """
    match server:
        case Server.REDIS:
            return _redis(binary, ports, data)
        case Server.TEMPORAL:
            return _temporal(binary, ports, data)
        case Server.WEAVIATE:
            return _weaviate(binary, ports, data, key)


def _redis(binary: Path, ports: dict[str, int], data: Path) -> Command:
    # A claim on a once effect must survive a power cut, so every write is synced and nothing is evicted.
    return Command(
        arguments=(
            *(str(binary), "--bind", LOOPBACK, "--port", str(ports["redis"]), "--dir", str(data)),
            *("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", ""),
        )
    )


def _temporal(binary: Path, ports: dict[str, int], data: Path) -> Command:
    # A server without them refuses to start a task.
    attributes = [part for key in Attribute for part in ("--search-attribute", f"{key.value}=Keyword")]
    return Command(
        arguments=(
            *(str(binary), "server", "start-dev", "--ip", LOOPBACK, "--log-level", "warn"),
            *("--port", str(ports["temporal"]), "--ui-port", str(ports["temporal-ui"])),
            *("--db-filename", str(data / "temporal.db")),
            # A step takes 11 ms with these three settings, 95 ms with the defaults.
            *("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"),
            *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
            # How late Temporal may delete a run that has just been closed. With the default of 30 s, the erasure of a
            # user takes 40 s instead of 6.
            *("--dynamic-config-value", 'history.transferProcessorUpdateAckInterval="1s"'),
            # How late a timer may fire. With the default of 1 s, a task whose worker was killed ends 1.4 s later.
            *("--dynamic-config-value", 'history.timerProcessorMaxTimeShift="100ms"'),
            *attributes,
        )
    )


def _weaviate(binary: Path, ports: dict[str, int], data: Path, key: str) -> Command:
    return Command(
        arguments=(str(binary), "--scheme", "http", "--host", LOOPBACK, "--port", str(ports["weaviate"])),
        environment={
            "PERSISTENCE_DATA_PATH": str(data),
            "CLUSTER_HOSTNAME": "node1",
            "CLUSTER_IN_LOCALHOST": "true",
            # Without these two it exits on a machine whose address is IPv6.
            "CLUSTER_ADVERTISE_ADDR": LOOPBACK,
            "CLUSTER_BIND_ADDR": LOOPBACK,
            "GRPC_PORT": str(ports["weaviate-grpc"]),
            "RAFT_PORT": str(ports["weaviate-raft"]),
            "RAFT_INTERNAL_RPC_PORT": str(ports["weaviate-raft-rpc"]),
            "CLUSTER_GOSSIP_BIND_PORT": str(ports["weaviate-gossip"]),
            "CLUSTER_DATA_BIND_PORT": str(ports["weaviate-data"]),
            # Whatever --host says, the gRPC and cluster ports of 1.35 listen on every address, so both require a key;
            # the profiler would listen everywhere too and is switched off.
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
            "AUTHENTICATION_APIKEY_ENABLED": "true",
            "AUTHENTICATION_APIKEY_ALLOWED_KEYS": key,
            "AUTHENTICATION_APIKEY_USERS": "perdure",
            "CLUSTER_BASIC_AUTH_USERNAME": "perdure",
            "CLUSTER_BASIC_AUTH_PASSWORD": key,
            "GO_PROFILING_DISABLE": "true",
            "DISABLE_TELEMETRY": "true",
            "AUTOSCHEMA_ENABLED": "false",
            # BM25 over objects that are still in the memtable is 20 to 30 times slower; the default flushes after 60 s.
            "PERSISTENCE_MEMTABLES_FLUSH_DIRTY_AFTER_SECONDS": "2",
            "QUERY_DEFAULTS_LIMIT": "100",
            # With the default of 5, the only node waits 9.8 s for an election that it always wins; with 1, 2.2 s.
            "RAFT_TIMEOUTS_MULTIPLIER": "1",
            # By default it turns read-only on a laptop whose disk is 90 % full.
            "DISK_USE_WARNING_PERCENTAGE": "95",
            "DISK_USE_READONLY_PERCENTAGE": "99",
        },
    )


def is_free(port: int) -> bool:
    """Return whether nothing listens on this port, on any address of the machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Without it, recently closed connections block the port of a server that was just stopped for a minute.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def choose(
    groups: Iterable[tuple[str, ...]],
    remembered: Mapping[str, int],
    *,
    free: Callable[[int], bool] = is_free,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, int]:
    """Assign a port to each name: the remembered one if it is free, otherwise a random one. Binds none of them.

    Args:
        groups: The names that need ports; the names of one group get consecutive ports.
        remembered: The ports of the last run.
        free: Whether a port is available.
        say: Called when a remembered port is taken.
    """
    chosen: dict[str, int] = {}
    for group in groups:
        first = remembered.get(group[0])
        if first is not None and _fits(first, group, set(chosen.values()), free):
            start = first
        else:
            # Another name's remembered port is not used either, or two names could swap ports permanently.
            start = _random_start(group, {*chosen.values(), *remembered.values()}, free)
            if first is not None:
                say(f"port {first} of {group[0]} is taken; using {start} instead")
        chosen |= {name: start + offset for offset, name in enumerate(group)}
    return chosen


def _fits(start: int, group: tuple[str, ...], reserved: set[int], free: Callable[[int], bool]) -> bool:
    return all(port not in reserved and free(port) for port in range(start, start + len(group)))


def _random_start(group: tuple[str, ...], reserved: set[int], free: Callable[[int], bool]) -> int:
    for start in random.sample(range(LOWEST, HIGHEST), 200):
        if _fits(start, group, reserved, free):
            return start
    raise OSError(f"none of 200 ports between {LOWEST} and {HIGHEST} is free")
