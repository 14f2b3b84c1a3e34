"""What a worker of this machine has read: it says so as it begins, and others look whether that has changed since."""

import contextlib
import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from pydantic import Field, ValidationError

from localservers.files import replace, writable, written_at
from perdure.model import Stored

_FOLDER = "loaded"

_OLDER = "an older one"


class LoadedFiles(Stored):
    """What one process has read."""

    files: dict[str, str] = Field(default_factory=dict)
    """A digest of each file's content, or of the names in a folder, by its path."""
    tools: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The names of each tool's arguments, by the tool's name."""


def begin_loading(home: Path) -> int:
    """Take back what a process with this id said before it; return the moment, in nanoseconds, for ``tell_loaded``."""
    with contextlib.suppress(OSError):
        _file(home, os.getpid()).unlink(missing_ok=True)
    return time.time_ns()


def tell_loaded(
    home: Path, paths: Iterable[Path], began: int, tools: Mapping[str, Iterable[str]] = MappingProxyType({})
) -> None:
    """Write down what this process has read and will not read again.

    Args:
        home: The data folder.
        paths: Files; and folders, of which the YAML files in them count.
        began: When it began to read: what has been written since then may have been read before, and counts as changed.
        tools: The names of each tool's arguments, by the tool's name.

    Raises:
        HomeUnusable: It cannot be written.
    """
    folder = home / _FOLDER
    with writable(folder):
        for left in folder.glob("*.json"):
            if not lives(left.stem):
                left.unlink(missing_ok=True)
        found = {path: digest for path in paths if (digest := _digest(path))}
        files = {str(path): digest if written_at(path) < began else _OLDER for path, digest in found.items()}
        told = LoadedFiles(files=files, tools={name: tuple(arguments) for name, arguments in tools.items()})
        replace(_file(home, os.getpid()), told.model_dump_json())


def has_loaded(home: Path, pid: int) -> bool:
    """Return whether a process has said what it read: until then, a worker is still loading.

    Args:
        home: The data folder.
        pid: The process's id.
    """
    return _file(home, pid).exists()


def loaded_tools(home: Path, pid: int) -> dict[str, tuple[str, ...]]:
    """Return the names of the arguments of each tool that a process has, by the tool's name, as far as it has said so.

    Args:
        home: The data folder.
        pid: The process's id.
    """
    return _read(home, pid).tools


def changed_since_loaded(home: Path, pid: int) -> list[Path]:
    """Return what has changed since a process has read it; none where it has not said what it read.

    Args:
        home: The data folder.
        pid: The process's id.
    """
    read = _read(home, pid)
    return [path for name, digest in read.files.items() if _digest(path := Path(name)) not in (digest, None)]


def _read(home: Path, pid: int) -> LoadedFiles:
    try:
        return LoadedFiles.model_validate_json(_file(home, pid).read_text())
    except (OSError, ValidationError):
        return LoadedFiles()


def _file(home: Path, pid: int) -> Path:
    return home / _FOLDER / f"{pid}.json"


def _digest(path: Path) -> str | None:
    """Return a digest; empty: there is no such file; None: nobody can say, as while a network's folder is away."""
    try:
        content = "\n".join(sorted(one.name for one in path.glob("*.yaml"))).encode() if path.is_dir() else None
        return hashlib.sha256(path.read_bytes() if content is None else content).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return None


def lives(pid: str) -> bool:
    """Return whether there is a process with an id on this machine."""
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        # It is somebody else's.
        return True
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    return True
