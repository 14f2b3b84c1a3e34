"""One process's chain: made when it is first needed, appended for several callers at once, rotated. Only appends."""

import asyncio
import os
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from perdure.errors import StoreUnavailable
from perdure.stores import disk
from perdure.stores.audit import files
from perdure.stores.audit.chain import chained, root
from perdure.stores.audit.files import ChainFile
from perdure.stores.audit.lines import AuditHead, AuditKind, AuditLine
from perdure.stores.journal.marks import known_id
from perdure.together import to_its_end

STORE = "audit"
"""What errors and degraded results call the audit."""


class ChainWriter:
    """Appends lines to this process's chain. Files are touched in worker threads only.

    Args:
        folder: The audit's folder, in that of the journal.
        key: The key of the chains.
        rotate_at: The size in bytes beyond which the chain goes on in another file.
    """

    def __init__(self, folder: Path, key: bytes, rotate_at: int = 16_000_000) -> None:
        self.folder = folder
        self._key = key
        self._rotate_at = rotate_at
        self._file: ChainFile | None = None
        self._lock = asyncio.Lock()
        self.head: AuditHead | None = None
        """The last line that is on the disk; None while there is none."""

    async def open(self) -> None:
        """Make the chain, unless there is one.

        Raises:
            StoreUnavailable: It cannot be made.
        """
        if self._file is None:
            await self.append(())

    async def append(self, lines: Sequence[AuditLine], *, closing: bool = False) -> AuditHead:
        """Append lines; on return they are on the disk, and after an error none of them is.

        Args:
            lines: The lines.
            closing: Whether they are the last ones; another line would begin another file.

        Raises:
            StoreUnavailable: They cannot be written.
        """
        async with self._lock:
            # The next lines are chained to these ones.
            return await to_its_end(disk.in_thread(STORE, lambda: self._append(lines, closing=closing)))

    def _append(self, lines: Sequence[AuditLine], *, closing: bool) -> AuditHead:
        file, head = self._file, self.head
        opened = file is None or head is None
        if file is None or head is None:
            file, head, lines = self._opened(lines)
        content, head = chained(self._key, head, lines)
        rotated = closing or file.size + len(content) > self._rotate_at
        if rotated:
            end, head = chained(self._key, head, [_line(AuditKind.CLOSED)])
            content += end
        try:
            file.append(content)
        except OSError:
            if opened:
                file.discard()
            elif not file.usable:
                # Somebody has removed the file, or replaced its folder, say: what comes now begins another chain.
                file.close()
                self._file = None
            raise
        self._file, self.head = file, head
        if rotated:
            file.close()
            self._file = None
        return head

    def _opened(self, lines: Sequence[AuditLine]) -> tuple[ChainFile, AuditHead, Sequence[AuditLine]]:
        if known_id(self.folder.parent) is None:
            raise StoreUnavailable(STORE, f"{self.folder.parent} does not hold the journal: mount it")
        name = files.name(f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}", secrets.token_hex(6))
        process = f"{socket.gethostname()}:{os.getpid()}"
        before = (self.head,) if self.head else ()
        first = _line(AuditKind.OPENED).changed(process=process, heads=before)
        return ChainFile(self.folder, name), root(self._key, name), [first, *lines]

    async def end(self) -> None:
        """Give up the file as it is."""
        async with self._lock:
            if self._file is not None:
                with suppress(OSError):
                    self._file.close()
                self._file = None


def _line(kind: AuditKind) -> AuditLine:
    return AuditLine(kind=kind, at=datetime.now(UTC))
