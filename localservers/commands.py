"""Owns how each server is started: its arguments, its environment, its ports. Pure."""

from pathlib import Path

from pydantic import Field

from localservers.recipes import Server
from perdure.model import Model

SEARCH_ATTRIBUTES = ("PerdureTenant", "PerdureAgent", "PerdureSkill", "PerdurePhase")
"""The keywords that workflows carry; a server without them refuses to start a task."""

LOOPBACK = "127.0.0.1"

PORTS: dict[Server, tuple[tuple[str, ...], ...]] = {
    Server.REDIS: (("redis",),),
    Server.TEMPORAL: (("temporal",), ("temporal-ui",)),
    Server.WEAVIATE: (
        ("weaviate",),
        ("weaviate-grpc",),
        # Unless its RPC port follows its raft port, its only node never finds itself.
        ("weaviate-raft", "weaviate-raft-rpc"),
        ("weaviate-gossip", "weaviate-data"),
    ),
}
"""The ports that each server needs, by the names under which they are remembered; in a group they follow each other."""


class Command(Model):
    """How a process is started."""

    arguments: tuple[str, ...]
    environment: dict[str, str] = Field(default_factory=dict)


def command(server: Server, binary: Path, ports: dict[str, int], data: Path, key: str) -> Command:
    """Give the command of a server.

    Args:
        server: Which one.
        binary: Its program.
        ports: A port for each name in ``PORTS``.
        data: The folder of its data; it exists.
        key: The API key that Weaviate asks for.
    """
    match server:
        case Server.REDIS:
            return _redis(binary, ports, data)
        case Server.TEMPORAL:
            return _temporal(binary, ports, data)
        case Server.WEAVIATE:
            return _weaviate(binary, ports, data, key)


def _redis(binary: Path, ports: dict[str, int], data: Path) -> Command:
    # A claim on a once effect must survive a power cut: every write is synced, and nothing is evicted.
    return Command(
        arguments=(
            *(str(binary), "--bind", LOOPBACK, "--port", str(ports["redis"]), "--dir", str(data)),
            *("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", ""),
        )
    )


def _temporal(binary: Path, ports: dict[str, int], data: Path) -> Command:
    attributes = [part for name in SEARCH_ATTRIBUTES for part in ("--search-attribute", f"{name}=Keyword")]
    return Command(
        arguments=(
            *(str(binary), "server", "start-dev", "--ip", LOOPBACK, "--log-level", "warn"),
            *("--port", str(ports["temporal"]), "--ui-port", str(ports["temporal-ui"])),
            *("--db-filename", str(data / "temporal.db")),
            # With the defaults a step takes 95 ms, with these 11 ms.
            *("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"),
            *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
            # A timer may be this much late: with the default of 1 s, a task with a killed worker ends 1.4 s later.
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
            # Without these two it dies on a machine whose address is IPv6.
            "CLUSTER_ADVERTISE_ADDR": LOOPBACK,
            "CLUSTER_BIND_ADDR": LOOPBACK,
            "GRPC_PORT": str(ports["weaviate-grpc"]),
            "RAFT_PORT": str(ports["weaviate-raft"]),
            "RAFT_INTERNAL_RPC_PORT": str(ports["weaviate-raft-rpc"]),
            "CLUSTER_GOSSIP_BIND_PORT": str(ports["weaviate-gossip"]),
            "CLUSTER_DATA_BIND_PORT": str(ports["weaviate-data"]),
            # 1.35 listens on every address with its gRPC and its cluster port, whatever the host says, so that
            # both ask for a key; its profiler would do the same and is switched off.
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
            # With the default of 5, the only node waits for an election that nobody else can win: 9.8 s against 2.2 s.
            "RAFT_TIMEOUTS_MULTIPLIER": "1",
            # Otherwise it turns read-only on a laptop whose disk is 90 % full.
            "DISK_USE_WARNING_PERCENTAGE": "95",
            "DISK_USE_READONLY_PERCENTAGE": "99",
        },
    )
