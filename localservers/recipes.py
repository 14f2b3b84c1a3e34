"""What is known about each server: its version, program names, official release, and how Go builds it."""

import platform
import sys
from dataclasses import dataclass
from enum import StrEnum

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
        archive: Its path on the host.
        checksums: The path of the published file that lists its sha256.
        members: The names that the binary may have in the archive.
    """

    archive: str
    checksums: str
    members: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GoBuild:
    """How to build a server with Go.

    Args:
        package: The Go package, with its version unless ``module`` pins it.
        module: The folder in ``modules`` whose go.mod and go.sum to build with; if empty, ``go install`` is used.
        binary: The name Go gives the result.
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
        version_of: Matches major and minor version in the output of ``--version``; empty if they are not checked.
        oldest: The oldest supported version.
        cached: Its file name in the cache, which includes the version.
        release: The official archive, if there is one for this platform.
        go: How to build it with Go, if possible.
        install: The advice for a machine on which no route works.
    """

    programs: tuple[str, ...]
    version_of: str = ""
    oldest: tuple[int, int] = (0, 0)
    cached: str
    release: Release | None = None
    go: GoBuild | None = None
    install: str


def recipe(server: Server) -> Recipe:
    """Return what is known about a server on this platform."""
    system, processor = sys.platform, platform.machine()
    # As release archives name it.
    processor = {"x86_64": "amd64", "aarch64": "arm64"}.get(processor, processor)
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
