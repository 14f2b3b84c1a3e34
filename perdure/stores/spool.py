"""The spool: episodes that wait on this machine for Redis to come back, a file for each tenant that has any."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from perdure.model import Stored
from perdure.stores import disk
from perdure.stores.journal.erasures import ErasureLog
from perdure.tolerance import read_back
from perdure.values.episodes import Episode

_ENDING = ".jsonl"


class Waiting(Stored):
    """An episode that waits."""

    session: str
    episode: Episode
    epoch: int | None = None
    """The tenant's epoch that it began under; None: not known."""


class Waited(NamedTuple):
    """What waits for one tenant."""

    episodes: tuple[Waiting, ...]
    file: tuple[int, int] | None
    """Which file they were in, and its size; ``delivered`` compares it with the one that is there by then."""


class Spool:
    """Waiting episodes, shared safely by all processes of a machine.

    Args:
        folder: Where the files are; made when first needed.
        erasures: The erasures that the journal knows of.
    """

    def __init__(self, folder: Path, erasures: ErasureLog) -> None:
        self._folder = folder
        self._erasures = erasures

    async def append(self, tenant: str, session: str, episode: Episode, *, epoch: int | None = None) -> None:
        """Keep an episode, unless its user was erased since it began; on return it is on the disk.

        Raises:
            StoreUnavailable: It could not be written.
        """
        line = Waiting(session=session, episode=episode, epoch=epoch).model_dump_json().encode() + b"\n"

        def write() -> None:
            disk.make_folder(self._folder)
            # An erasure is logged before it removes anything: it finds the line, or the line is dropped.
            with disk.locked(self._folder):
                if epoch is None or not self._erasures.is_newer(tenant, epoch):
                    disk.append(self._file(tenant), line)

        await disk.in_thread("spool", write)

    async def tenants(self) -> list[str]:
        """Return the tenants that have waiting episodes.

        Raises:
            StoreUnavailable: The folder cannot be read.
        """
        return await disk.in_thread("spool", lambda: sorted(file.stem for file in self._folder.glob(f"*{_ENDING}")))

    async def read(self, tenant: str) -> Waited:
        """Return what waits for a tenant, oldest first; lines that cannot be read are skipped.

        Raises:
            StoreUnavailable: It cannot be read.
        """
        file = self._file(tenant)
        place, content = await disk.in_thread("spool", lambda: _read(file))
        found: list[Waiting] = []
        for line in content.splitlines():
            with suppress(ValidationError):
                found.append(read_back(Waiting, line))
        return Waited(tuple(found), place)

    async def delivered(self, tenant: str, waited: Waited) -> None:
        """Remove a tenant's file, unless more was appended since it was read: then all of it is delivered again.

        Raises:
            StoreUnavailable: It cannot be removed.
        """
        file = self._file(tenant)

        def remove() -> None:
            with disk.locked(self._folder):
                if _place(file) == waited.file:
                    file.unlink()
                    disk.sync_folder(self._folder)

        if waited.file:
            await disk.in_thread("spool", remove)

    async def erase(self, tenant: str) -> None:
        """Remove a tenant's file, for good.

        Raises:
            StoreUnavailable: It cannot be removed.
        """

        def remove() -> None:
            if self._file(tenant).exists():
                with disk.locked(self._folder):
                    self._file(tenant).unlink(missing_ok=True)
                    disk.sync_folder(self._folder)

        await disk.in_thread("spool", remove)

    def _file(self, tenant: str) -> Path:
        return self._folder / f"{tenant}{_ENDING}"


def _place(file: Path) -> tuple[int, int] | None:
    if not file.exists():
        return None
    status = file.stat()
    return status.st_ino, status.st_size


def _read(file: Path) -> tuple[tuple[int, int] | None, bytes]:
    place = _place(file)
    return place, file.read_bytes()[: place[1]] if place else b""
