"""Builds a server with Go: in a scratch folder, with pinned versions and hashes, reporting progress."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from localservers.problems import RouteFailed
from localservers.recipes import GoBuild

TELL_EVERY = 5.0
ROOM_NEEDED = 3_000_000_000
"""Bytes that one build may add to Go's caches; both builds together leave 5.6 GB."""


class NotBuilt(RouteFailed):
    """Go could not build it."""


def build(recipe: GoBuild, folder: Path, say: Callable[[str], None]) -> Path:
    """Build a server and return the path of its binary.

    Args:
        recipe: What to build.
        folder: An empty folder to work in.
        say: Receives a line of progress every few seconds.

    Raises:
        NotBuilt: With the last lines that Go printed.
    """
    go = shutil.which("go")
    if go is None:
        raise NotBuilt("no `go` on PATH")
    environment = os.environ | {"GOBIN": str(folder)}
    if recipe.module:
        for name in ("go.mod", "go.sum"):
            text = (resources.files("localservers") / "modules" / recipe.module / name).read_text()
            (folder / name).write_text(text)
        # The module has no code of its own, so Go wants to tidy its go.mod; -mod=mod lets it, in this copy.
        command = [go, "build", "-v", "-buildvcs=false", "-mod=mod", "-o", str(folder / recipe.binary), recipe.package]
    else:
        command = [go, "install", "-v", "-buildvcs=false", recipe.package]
    _check_room(go)
    _run(command, folder, environment, recipe, say)
    return folder / recipe.binary


def _check_room(go: str) -> None:
    cache = Path(
        subprocess.run([go, "env", "GOCACHE"], capture_output=True, text=True, check=False).stdout.strip() or "/"
    )
    existing = next(path for path in (cache, *cache.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < ROOM_NEEDED:
        raise NotBuilt(f"{existing} has {free / 1e9:.1f} GB free; a build needs {ROOM_NEEDED / 1e9:.0f} GB")


def _run(
    command: list[str], folder: Path, environment: dict[str, str], recipe: GoBuild, say: Callable[[str], None]
) -> None:
    started = time.monotonic()
    say(f"building {recipe.binary} with Go; the first time takes about {recipe.minutes} min on two cores")
    log = folder / "build.log"
    with log.open("w") as output, subprocess.Popen(command, cwd=folder, env=environment, stderr=output) as process:
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(TELL_EVERY)
                    break
                elapsed = time.monotonic() - started
                lines = _lines(log)
                fetched = sum(line.startswith("go: downloading") for line in lines)
                say(
                    f"building {recipe.binary}: {elapsed // 60:.0f} min {elapsed % 60:.0f} s, "
                    f"{fetched} modules fetched, {len(lines) - fetched} packages compiled"
                )
        finally:
            process.kill()
    if process.returncode != 0:
        raise NotBuilt("`" + " ".join(command[1:]) + "` failed: " + " | ".join(_lines(log)[-4:])[-800:])


def _lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines()
