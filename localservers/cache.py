"""Owns the folder of server binaries: whole files only, put there by one process at a time."""

import contextlib
import errno
import fcntl
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

from localservers.problems import HomeUnusable


@contextlib.contextmanager
def locked(path: Path, waiting: Callable[[], None] = lambda: None) -> Generator[None]:
    """Hold a file's lock; whoever comes second waits, having said so.

    Args:
        path: The lock file; made if it is not there.
        waiting: Called when the lock is not to be had at once.
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
    """Make a folder, for its owner alone, and turn what a disk refuses into an error that says what to do."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise unusable(folder, error) from error


def unusable(folder: Path, error: OSError) -> HomeUnusable:
    """Say what a disk refused, and what to do about it."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    fix = "free some space" if full else "make it writable, or choose other folders with PERDURE_HOME and PERDURE_CACHE"
    return HomeUnusable(f"{error.filename or folder}: {error.strerror or error}; {fix}")


def install(binary: Path, make: Callable[[Path], Path], say: Callable[[str], None]) -> Path:
    """Put a binary into the cache, unless another process has done it meanwhile.

    Args:
        binary: Where it goes.
        make: Makes it inside the scratch folder that it is given, and returns its path there.
        say: Told when another process is at it.
    """

    def waiting() -> None:
        say(f"another process is getting {binary.name}; waiting for it")

    with locked(binary.with_name(f".{binary.name}.lock"), waiting):
        if binary.is_file():
            return binary
        scratch = Path(tempfile.mkdtemp(prefix=f".{binary.name}.", dir=binary.parent))
        try:
            made = make(scratch)
            made.chmod(0o755)
            made.replace(binary)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return binary
