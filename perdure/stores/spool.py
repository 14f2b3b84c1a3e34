"""The spool: episodes that wait on this machine for Redis to come back, a file for each tenant that has any."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from perdure.episodes import Episode
from perdure.model import Stored
from perdure.stores import disk

_ENDING = ".jsonl"


class Waiting(Stored):
    """An episode that waits."""

    session: str
    episode: Episode


class Waited(NamedTuple):
    """What waits for one tenant."""

    episodes: tuple[Waiting, ...]
    size: int
    """The bytes that they take; ``delivered`` compares it with what the file has by then."""


class Spool:
    """Waiting episodes, shared safely by all processes of a machine.

    Args:
        folder: Where the files are; made when first needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def append(self, tenant: str, session: str, episode: Episode) -> None:
        """Keep an episode; on return it is on the disk.

        Raises:
            StoreUnavailable: It could not be written.
        """
        line = Waiting(session=session, episode=episode).model_dump_json().encode() + b"\n"
        await asyncio.to_thread(self._append, tenant, line)

    async def tenants(self) -> list[str]:
        """Return the tenants that have waiting episodes.

        Raises:
            StoreUnavailable: The folder cannot be read.
        """
        return await asyncio.to_thread(self._tenants)

    async def read(self, tenant: str) -> Waited:
        """Return what waits for a tenant, oldest first; lines that cannot be read are skipped.

        Raises:
            StoreUnavailable: It cannot be read.
        """
        return await asyncio.to_thread(self._read, tenant)

    async def delivered(self, tenant: str, waited: Waited) -> None:
        """Remove a tenant's file, unless more was appended since it was read: then all of it is delivered again.

        Raises:
            StoreUnavailable: It cannot be removed.
        """
        await asyncio.to_thread(self._delivered, tenant, waited.size)

    def _append(self, tenant: str, line: bytes) -> None:
        with disk.unavailable("spool"):
            disk.make_folder(self._folder)
            with disk.locked(self._folder):
                disk.append(self._file(tenant), line)

    def _tenants(self) -> list[str]:
        with disk.unavailable("spool"):
            return sorted(file.stem for file in self._folder.glob(f"*{_ENDING}"))

    def _read(self, tenant: str) -> Waited:
        with disk.unavailable("spool"):
            file = self._file(tenant)
            content = file.read_bytes() if file.exists() else b""
        found: list[Waiting] = []
        for line in content.splitlines():
            try:
                found.append(Waiting.model_validate_json(line))
            except ValidationError:
                continue
        return Waited(tuple(found), len(content))

    def _delivered(self, tenant: str, size: int) -> None:
        with disk.unavailable("spool"):
            file = self._file(tenant)
            if not file.exists():
                return
            with disk.locked(self._folder):
                if file.exists() and file.stat().st_size == size:
                    file.unlink()
                    disk.sync_folder(self._folder)

    def _file(self, tenant: str) -> Path:
        return self._folder / f"{tenant}{_ENDING}"
