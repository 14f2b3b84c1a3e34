"""The journal: one log of lines for each tenant. Decides nothing about what the lines mean."""

import re
import secrets
import shutil
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perdure.errors import InvalidInput, JournalMismatch, StoreLost, StoreUnavailable
from perdure.stores import disk
from perdure.stores.audit.files import FOLDER as AUDIT
from perdure.stores.journal import folded_state
from perdure.stores.journal.erasures import ErasureLog
from perdure.stores.journal.files import HOLE, Files
from perdure.stores.journal.lines import Accepted, Changed, Line, Settled, decode, encode, ids_of, known
from perdure.stores.journal.marks import known_id
from perdure.values.erasures import Erasure
from perdure.values.losses import Store

_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ERASED = ".erased-"


def _unless_gone(_function: object, _path: str, problem: Any) -> None:
    """Go on where somebody else who erases has removed it already, and raise what else goes wrong."""
    if not isinstance(problem[1], FileNotFoundError):
        raise problem[1]


class Journal:
    """The logs of all tenants, shared safely by all processes that see the folder.

    Files are touched and read in worker threads only: an fsync or a large log can take long, and heartbeats must go on.
    Every method raises StoreUnavailable when the files cannot be read or written.

    Args:
        folder: Where the logs are; made when first needed.
        rotate_at: The size in bytes beyond which a file is closed and a new one begun.
        shared: Asks Redis for the id of the journal that the installation shares; None where it knows of none yet.
    """

    def __init__(
        self,
        folder: Path,
        rotate_at: int = 50_000_000,
        *,
        shared: Callable[[], Awaitable[str | None]] | None = None,
    ) -> None:
        self.folder = folder
        self._rotate_at = rotate_at
        self._erasures = ErasureLog(folder)
        self._id: str | None = None
        self._shared = shared
        self._agreed: str | None = None

    async def append(
        self,
        tenant: str,
        lines: Sequence[Line],
        *,
        epoch: int | None = None,
        asked_at: datetime | None = None,
        people: Collection[str] = (),
        erasures: Mapping[str, Erasure] | None = None,
    ) -> None:
        """Write lines together; on return they are on the disk, and after an error none of them is kept.

        The text of what a settled line refuses is erased before the line is there, under one lock: a crash between
        the two leaves an operation that settles again, and nobody sees the line and the text together.

        Args:
            tenant: Whose lines.
            lines: What is written.
            epoch: The tenant's epoch that it was accepted or read under; None: not known.
            asked_at: When it was asked to be written; None: it does not matter who was erased since.
            people: Who must not have been erased since, besides the tenant.
            erasures: Those that were known when it was read what names these people; None: it was not read.

        Raises:
            ErasedMeanwhile: One of these people was erased since, or is being erased: read it again.
            TenantErased: One of them was, or the tenant after that epoch. An erasure that comes later finds the lines.
            StoreLost: The folder no longer holds the journal that it held before: it is not mounted, say.
            JournalMismatch: It holds another one than the installation's.
        """
        refusing = [line for line in lines if isinstance(line, Settled) and line.refused]

        def erased(content: Sequence[bytes]) -> list[bytes]:
            return [raw for settled in refusing for raw in _refused(content, settled)]

        def require() -> None:
            if epoch is not None:
                self._erasures.require_epoch(tenant, epoch)
            if asked_at is not None:
                self._erasures.require_none_since(asked_at, {tenant, *people})
            if erasures is not None:
                self._erasures.require_unchanged(erasures, people)

        if lines:
            await self._require_shared()
            rotated = await disk.in_thread(
                "journal", lambda: self._append(tenant, encode(lines), erased if refusing else None, require)
            )
            if rotated:
                # The lines are kept, whether or not there is room to compact the others.
                with suppress(StoreUnavailable):
                    await self.compact(tenant, now=datetime.now(UTC))
        elif asked_at is not None:
            # Of a user who was erased, nothing is to be said either.
            await disk.in_thread("journal", require)

    async def erased(self) -> dict[str, Erasure]:
        """Return the latest erasure of each user, for ``append``."""
        return await self._erasures.all()

    async def read(self, tenant: str, *, naming: Collection[str] = ()) -> list[Line]:
        """Return the lines of a tenant that this build understands, oldest first.

        Args:
            tenant: Whose lines.
            naming: Only those with one of these in them: ids, or what ``of_kind`` returns; empty: all. Of 100,000 lines
                that takes .2 s instead of 3 (measured).
        """
        sought = [name.encode() for name in naming]

        def lines() -> list[Line]:
            found = self._of(tenant).read()
            return known(raw for raw in found if any(one in raw for one in sought)) if sought else known(found)

        return await disk.in_thread("journal", lines)

    async def newest(self, tenant: str, *, until: float) -> tuple[list[Line], bool]:
        """Return the newest lines of a tenant that this build understands, as many as can be read in time.

        Args:
            tenant: Whose lines.
            until: When to stop, on the clock of ``time.monotonic``.

        Returns:
            The lines, oldest first, and whether these are all.
        """

        def lines() -> tuple[list[Line], bool]:
            found: list[Line] = []
            with closing(self._of(tenant).newest()) as content:
                for raw in content:
                    if time.monotonic() >= until:
                        return found[::-1], False
                    if raw.strip() and (line := decode(raw)) is not None:
                        found.append(line)
            return found[::-1], True

        return await disk.in_thread("journal", lines)

    async def history(self, tenant: str, identifier: str) -> list[Changed]:
        """Return the changes of an entry, oldest first: who, why, when, and what it was then."""
        return folded_state.history(await self.read(tenant, naming=[identifier]), identifier)

    async def redact(self, tenant: str, job: str) -> None:
        """Erase the text of a job's items."""

        def condemned(raw: bytes) -> bool:
            line = decode(raw)
            return is_broken(raw) if line is None else isinstance(line, Accepted) and line.job == job

        await disk.in_thread("journal", lambda: self._of(tenant).erase([job], condemned))

    async def drop(
        self,
        tenant: str,
        ids: Collection[str],
        *,
        wordings: Collection[str] = (),
        spared: Callable[[Accepted], bool],
    ) -> None:
        """Erase the text of entries everywhere in the tenant's files, for good.

        Args:
            tenant: Whose.
            ids: The entries.
            wordings: The ids that they would have in other words, in which they were offered as well.
            spared: Says which items were observed anew and stay, since their jobs are still to come.
        """

        def condemned(raw: bytes) -> bool:
            line = decode(raw)
            if line is None:
                # A newer build's line that names the entry may hold its text.
                return any(name.encode() in raw for name in ids)
            named = ids_of(line)
            if isinstance(line, Accepted):
                return any(name in ids or name in wordings for name in named) and not spared(line)
            return any(name in ids for name in named)

        if ids:
            await disk.in_thread("journal", lambda: self._of(tenant).erase([*ids, *wordings], condemned))

    async def strike(self, tenant: str, *, named: str, struck: Callable[[Line], bool]) -> None:
        """Erase lines everywhere in the tenant's files, for good.

        Args:
            tenant: Whose files.
            named: Only lines with this in them are looked at; one that a newer build or a crash has left goes.
            struck: Says which of the others go.
        """

        def condemned(raw: bytes) -> bool:
            line = decode(raw)
            return line is None or struck(line)

        await disk.in_thread("journal", lambda: self._of(tenant).erase([named], condemned))

    async def compact(self, tenant: str, *, now: datetime) -> None:
        """Drop the lines that are no longer needed, if there is enough to gain."""

        def needed(content: Sequence[bytes]) -> Sequence[bool]:
            return folded_state.needed([decode(raw) for raw in content], now)

        await disk.in_thread("journal", lambda: self._of(tenant).compact(needed))

    async def erase(self, tenant: str) -> None:
        """Remove all that the folder has of a tenant, large values too, for good.

        A process that waits for the folder's lock finds it gone, and begins a new one.
        """

        def remove() -> None:
            folder = self.folder / tenant
            if _TENANT.fullmatch(tenant) and folder.is_dir():
                with disk.locked(folder):
                    folder.rename(self.folder / f"{_ERASED}{secrets.token_hex(8)}")
            # Also what a crash has left of an erasure.
            for one in self.folder.glob(f"{_ERASED}*"):
                shutil.rmtree(one, onerror=_unless_gone)
            disk.sync_folder(self.folder)

        await disk.in_thread("journal", remove)

    async def tenants(self) -> list[str]:
        """Return the tenants that have a log, in order."""

        def find() -> list[str]:
            found = self.folder.iterdir() if self.folder.is_dir() else ()
            return sorted(
                path.name for path in found if path.is_dir() and _TENANT.fullmatch(path.name) and path.name != AUDIT
            )

        return await disk.in_thread("journal", find)

    async def _require_shared(self) -> None:
        """Check a journal that was not in the folder before: it may be mounted from elsewhere."""
        found = await disk.in_thread("journal", lambda: known_id(self.folder))
        if self._shared is None or found is None or found == self._agreed:
            return
        # Without Redis only those write who may: what is accepted then must not be lost.
        with suppress(StoreUnavailable):
            shared = await self._shared()
            if shared is not None and shared != found:
                raise JournalMismatch(Store.REDIS, shared, found, str(self.folder))
            self._agreed = shared

    def _append(
        self,
        tenant: str,
        content: bytes,
        erased: Callable[[Sequence[bytes]], Collection[bytes]] | None,
        require: Callable[[], None],
    ) -> bool:
        found = known_id(self.folder)
        if self._id is not None and found is None:
            raise StoreLost(Store.JOURNAL, f"{self.folder} no longer holds it: mount it again, or restore its backup")
        self._id = found
        return self._of(tenant).append(content, erased, require)

    def _of(self, tenant: str) -> Files:
        if not _TENANT.fullmatch(tenant):
            raise InvalidInput("tenant", "is not a tenant's name")
        return Files(self.folder / tenant, self._rotate_at)


def _refused(content: Sequence[bytes], settled: Settled) -> list[bytes]:
    """Return the lines with text of what an operation refused. Whatever tells of an operation names it."""
    named = [(raw, decode(raw)) for raw in content if settled.operation.encode() in raw]
    found = [(raw, line) for raw, line in named if line is not None]
    gone = folded_state.refused([line for _, line in found], settled)
    broken = [raw for raw, line in named if line is None and is_broken(raw)]
    return [*broken, *(raw for (raw, _), goes in zip(found, gone, strict=True) if goes)]


def is_broken(raw: bytes) -> bool:
    """Return whether a crash in the middle of an erasure may have left a line that cannot be decoded, and yet is JSON.

    It does where the hole reaches from within one text to within another. A newer build's line may look the same, so
    this says nothing of a line that does not name what is to be erased.
    """
    return HOLE in raw
