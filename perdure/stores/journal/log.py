"""The mirror's files: append, rotate, read. Never changes or drops a line that was accepted."""

import asyncio
import errno
import fcntl
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from perdure.errors import InvalidInput, StoreUnavailable
from perdure.stores.disk import sync_folder
from perdure.stores.journal.lines import EpisodeLine, MirrorLine, MirrorView, decode, encode, is_about_an_episode

_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CURRENT = "current.jsonl"


class Mirror:
    """An append-only log for each tenant, shared safely by all processes of a machine.

    Files are touched and read in worker threads only: an fsync or a large log can take long, and heartbeats must go on.

    Args:
        folder: Where the logs are; made when first needed.
        rotate_at: The size in bytes beyond which a file is closed and a new one begun.
    """

    def __init__(self, folder: Path, rotate_at: int = 50_000_000) -> None:
        self._folder = folder
        self._rotate_at = rotate_at

    async def append(self, tenant: str, line: MirrorLine) -> None:
        """Write a line; on return it is on the disk.

        Raises:
            StoreUnavailable: When it could not be written, on a full disk say. Nothing of it is then kept.
        """
        await asyncio.to_thread(self._append, tenant, encode(line))

    async def read(self, tenant: str) -> MirrorView:
        """Give all lines of a tenant, oldest first; none when there is no such tenant.

        Raises:
            StoreUnavailable: When they cannot be read.
        """
        return await asyncio.to_thread(lambda: decode(self._raw(tenant)))

    async def episodes(self, tenant: str) -> list[EpisodeLine]:
        """Give the episodes that were to wait here for Redis, oldest first; those it has by now among them.

        Raises:
            StoreUnavailable: When they cannot be read.
        """
        view = await asyncio.to_thread(lambda: decode(filter(is_about_an_episode, self._raw(tenant))))
        return [line for line in view.lines if isinstance(line, EpisodeLine)]

    async def tenants(self) -> list[str]:
        """Give every tenant that has a log.

        Raises:
            StoreUnavailable: When the folder cannot be read.
        """
        return await asyncio.to_thread(self._tenants)

    def _append(self, tenant: str, content: bytes) -> None:
        with _failing_as_unavailable():
            folder = self._folder_of(tenant)
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                sync_folder(self._folder)
            with _locked(folder, fcntl.LOCK_EX):
                self._rotate(folder, len(content))
                _append(folder / _CURRENT, content)

    def _tenants(self) -> list[str]:
        with _failing_as_unavailable():
            if not self._folder.is_dir():
                return []
            return sorted(entry.name for entry in self._folder.iterdir() if _TENANT.fullmatch(entry.name))

    def _folder_of(self, tenant: str) -> Path:
        if not _TENANT.fullmatch(tenant):
            raise InvalidInput("tenant", "is not a tenant's name")
        return self._folder / tenant

    def _raw(self, tenant: str) -> list[bytes]:
        with _failing_as_unavailable():
            folder = self._folder_of(tenant)
            if not folder.is_dir():
                return []
            with _locked(folder, fcntl.LOCK_SH):
                files = [*_closed(folder), folder / _CURRENT]
                return [line for file in files if file.exists() for line in file.read_bytes().split(b"\n")]

    def _rotate(self, folder: Path, coming: int) -> None:
        current = folder / _CURRENT
        size = current.stat().st_size if current.exists() else 0
        if size == 0 or size + coming <= self._rotate_at:
            return
        last = max((int(file.stem) for file in _closed(folder)), default=0)
        current.rename(folder / f"{last + 1:08}.jsonl")
        sync_folder(folder)


def _closed(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.jsonl") if file.stem.isdecimal())


def _append(path: Path, content: bytes) -> None:
    new = not path.exists()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(handle).st_size
        # A crash may have left half a line: the next one must not be glued to it.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        try:
            _write(handle, b"\n" + content if torn else content)
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    if new:
        sync_folder(path.parent)


def _write(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        written = os.write(handle, left)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left = left[written:]


@contextmanager
def _locked(folder: Path, how: int) -> Generator[None]:
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


@contextmanager
def _failing_as_unavailable() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable("mirror", error.strerror or type(error).__name__) from error
