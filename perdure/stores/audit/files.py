"""The files of the audit: each is appended to by the process that made it, and all can be read.

A process holds the lock of its file for as long as it lives, so that the file of a killed process can be recognised.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Collection
from pathlib import Path

from perdure.stores import disk

FOLDER = "audit"
"""The audit's folder in that of the journal; no tenant is called so."""

_SUFFIX = ".jsonl"


class ChainFile:
    """A chain's file, made and locked. Raises OSError.

    Args:
        folder: The audit's folder.
        name: A name that no file has.
    """

    def __init__(self, folder: Path, name: str) -> None:
        disk.make_folder(folder)
        self._path = folder / name
        self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self.size = 0
        self.usable = True
        """Whether lines may be appended: it is there, and ends with a whole line."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            disk.sync_folder(folder)
        except OSError:
            self.discard()
            raise

    def append(self, content: bytes) -> None:
        """Append lines; on return they are on the disk, and after an error nothing of them is kept.

        Raises:
            FileNotFoundError: The file is no longer in its folder, so that nobody would ever read the lines.
        """
        if not self._is_there():
            self.usable = False
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        try:
            disk.write(self._handle, content)
            os.fdatasync(self._handle)
        except OSError:
            self._take_back()
            raise
        self.size += len(content)

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._handle))
        except FileNotFoundError:
            return False

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._handle, self.size)
        except OSError:
            self.usable = False

    def close(self) -> None:
        """Give up the lock."""
        os.close(self._handle)

    def discard(self) -> None:
        """Close and remove a file into which nothing was written."""
        os.close(self._handle)
        with contextlib.suppress(OSError):
            self._path.unlink()


def sizes(folder: Path) -> dict[str, int]:
    """Return the size of each chain's file by its name, in the order in which they were made."""
    if not folder.is_dir():
        return {}
    found: dict[str, int] = {}
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        # It may be removed in between.
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = path.stat().st_size
    return found


def is_open(path: Path) -> bool:
    """Return whether the process that made a file still lives."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def name(moment: str, token: str) -> str:
    """Return the name of a file that is made at a moment."""
    return f"{moment}-{token}{_SUFFIX}"


def lines_of(folder: Path, operation: str) -> list[bytes]:
    """Return the raw lines of all chains that name an operation, synced to the disk; the newest chains first."""
    sought, found = operation.encode(), list[bytes]()
    for one in reversed(sizes(folder)):
        path = folder / one
        with contextlib.suppress(FileNotFoundError):
            content = path.read_bytes()
            if sought in content:
                # The process that wrote it may have been killed before it was on the disk.
                _sync(path)
                found += [raw for raw in content.split(b"\n")[:-1] if sought in raw]
    return found


def remove(folder: Path, names: Collection[str]) -> None:
    """Remove files."""
    for one in names:
        (folder / one).unlink(missing_ok=True)
    disk.sync_folder(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
