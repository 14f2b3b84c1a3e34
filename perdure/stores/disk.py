"""Files that survive a crash: appended whole or not at all, made once, locked. Knows nothing of their content."""

import asyncio
import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from perdure.errors import StoreUnavailable

_T = TypeVar("_T")

LOCK = "lock"
"""The name of the file that locks its folder."""


def append(path: Path, content: bytes) -> None:
    """Append lines to a file; on return they are on the disk, and after an error nothing of them is kept."""
    new = not path.exists()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(handle).st_size
        # A crash may have left half a line: the next one must not be glued to it.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        try:
            write(handle, b"\n" + content if torn else content)
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    if new:
        sync_folder(path.parent)


def write(handle: int, content: bytes) -> None:
    """Write everything to an open file."""
    left = memoryview(content)
    while left:
        written = os.write(handle, left)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left = left[written:]


def replace(path: Path, content: bytes, draft: Path) -> None:
    """Replace a whole file atomically: after a crash there is the old one, or none, or the new one."""
    try:
        _drafted(draft, content)
    except OSError:
        # What a full disk took of it must not stay.
        draft.unlink(missing_ok=True)
        raise
    draft.rename(path)
    sync_folder(path.parent)


def create_once(path: Path, content: bytes) -> None:
    """Make a file if it is not there; of several processes that try, one makes it, and none sees half of it."""
    make_folder(path.parent)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        _drafted(draft, content)
        # A hard link, unlike a rename, fails where another process made the file in the meantime.
        path.hardlink_to(draft)
        sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder that only its owner can read, if it is not there."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder's list of names to disk, after one was added or changed."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Generator[None]:
    """Hold a folder's lock, which all processes of all machines that mount it respect."""
    handle = _taken(folder / LOCK, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


async def in_thread(store: str, call: Callable[[], _T]) -> _T:
    """Work on files in a thread, so that heartbeats go on while a disk is slow.

    Raises:
        StoreUnavailable: The system refused something.
    """
    try:
        return await asyncio.to_thread(call)
    except OSError as error:
        raise StoreUnavailable(store, error.strerror or type(error).__name__) from error


def _taken(path: Path, how: int) -> int:
    """Take the lock of a file that still has this name: the folder may be erased, and made anew, by who held it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, how)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            # Opening it once more says whether the folder is gone.
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _drafted(draft: Path, content: bytes) -> None:
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        write(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)
