"""Files that several processes share: locks, private folders, whole-or-nothing writes, and what a disk refuses."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Generator
from pathlib import Path

from localservers.problems import HomeUnusable


@contextlib.contextmanager
def locked(path: Path, waiting: Callable[[], None] = lambda: None) -> Generator[None]:
    """Hold a file's lock, waiting for the process that holds it now.

    Args:
        path: The lock file; created if missing.
        waiting: Called once if another process holds the lock.
    """
    with writable(path.parent), path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def writable(folder: Path) -> Generator[None]:
    """Create a folder that only its owner can read, and turn disk errors into ones that say what to do."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise unusable(folder, error) from error


def unusable(folder: Path, error: OSError) -> HomeUnusable:
    """Return the error to raise when the disk refuses something, with what to do about it."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    fix = "free some space" if full else "make it writable, or choose other folders with PERDURE_HOME and PERDURE_CACHE"
    return HomeUnusable(f"{error.filename or folder}: {error.strerror or error}; {fix}")


def replace(file: Path, text: str) -> None:
    """Write a file completely or not at all, readable by its owner only."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    scratch.touch(mode=0o600)
    scratch.write_text(text)
    scratch.replace(file)
