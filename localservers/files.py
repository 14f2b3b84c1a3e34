"""What several processes share: locks, private folders, files written whole or not at all, and waiting for another."""

import contextlib
import errno
import fcntl
import os
import time
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
    others = "choose other folders with PERDURE_HOME and PERDURE_CACHE"
    there = next((one for one in (folder, *folder.parents) if written_at(one)), folder)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        told = f"{error.filename or folder}: {error.strerror}; free some space"
    elif error.errno == errno.ENAMETOOLONG:
        told = f"{folder}: {error.strerror}; {others}"
    elif not there.is_dir():
        told = f"{folder} cannot be made: {there} is no folder; {others}"
    elif there != folder and error.errno == errno.ENOENT:
        told = f"{folder} cannot be made in {there}; {others}"
    elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        told = f"{error.filename or folder}: {error.strerror}; make it writable, or {others}"
    else:
        told = f"{error.filename or folder}: {error.strerror or error}; {others}"
    return HomeUnusable(told)


def replace(file: Path, text: str) -> None:
    """Write a file completely or not at all, readable by its owner only."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    scratch.touch(mode=0o600)
    scratch.write_text(text)
    scratch.replace(file)


def written_at(path: Path) -> int:
    """Return when a file was last written, in nanoseconds; 0: it cannot be looked at."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def wait_until(condition: Callable[[], bool], within: float, pause: float = 0.05) -> bool:
    """Wait until another process has made a condition true; return False if it has not in so many seconds."""
    until = time.monotonic() + within
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(pause)
    return True
