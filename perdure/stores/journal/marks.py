"""The journal's own marks: its id, and how far each process that writes memory has come.

A file for each process, ``.marks/<process>``, is overwritten in place: 0.4 ms, where an appended line takes 2.3 ms.
Those of processes that have ended, or been idle for long, are lines of one file, ``.marks/removed``, which is read
again once it has grown.
"""

import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from perdure.errors import StoreLost
from perdure.stores import disk
from perdure.values.losses import MARK_FORMAT, Mark, Store, Told

ID = "journal.id"
_MARKS = ".marks"
_REMOVED = "removed"
_MARK = re.compile(rb"(\d+) (\d+) (\d+)((?: \S+)*) *\n")
_GONE = re.compile(r"^(\w+) (\d+)(?: \S+)*$", re.MULTILINE)
_ENDED = " ended"
_RETIRED = " retired"
_WIDTH = 48
"""Bytes of a mark: well within one sector, which a disk writes as a whole."""


class JournalMarks:
    """The journal's id and marks. Every method raises StoreUnavailable when the folder cannot be used.

    Args:
        folder: The journal's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._removed: tuple[int, dict[str, Mark]] = (0, {})

    async def told(self) -> Told:
        """Return the journal's id and marks."""
        return await disk.in_thread(Store.JOURNAL, self._told)

    async def begin(self, fingerprint: str, id_: str = "") -> tuple[str, str]:
        """Return the journal's id, made where it has none, and the fingerprint of the installation's tenant key.

        Args:
            fingerprint: The fingerprint of the key in use, which a new journal is made with.
            id_: The id of a new journal; empty: any.
        """

        def make() -> tuple[str, str]:
            content = f"{id_ or new_id()}\n{fingerprint}\n"
            if known_id(self.folder) is None:
                disk.create_once(self.folder / ID, content.encode())
            return known_id(self.folder) or "", known_fingerprint(self.folder) or fingerprint

        return await disk.in_thread(Store.JOURNAL, make)

    async def write(self, writer: str, mark: Mark, *, new: bool) -> bool:
        """Record how far a process has come; on return it is on the disk.

        Args:
            writer: The process.
            mark: How far.
            new: Whether it is the process's first mark.

        Returns:
            False where the process has ended, or was idle for so long that its marks were retired: it needs another
            name.

        Raises:
            StoreLost: The folder has lost the journal since the process began.
        """
        return await disk.in_thread(Store.JOURNAL, lambda: self._write(writer, mark, new=new))

    async def restore(self, marks: Mapping[str, Mark]) -> None:
        """Write the marks of a journal that was rebuilt."""

        def write() -> None:
            for writer, mark in marks.items():
                self._put(writer, mark)

        await disk.in_thread(Store.JOURNAL, write)

    async def end(self, writer: str) -> None:
        """Record that a process writes nothing more."""

        def write() -> None:
            path = self.folder / _MARKS / writer
            with suppress(FileNotFoundError), disk.locked(path.parent):
                mark, state = _parsed(path)
                if not state:
                    self._put(writer, mark, _ENDED)

        await disk.in_thread(Store.JOURNAL, write)

    async def resting(self, idle: float) -> dict[str, Mark]:
        """Return the processes to retire: those that have ended, or been idle for long.

        Args:
            idle: For how many seconds, by the clock of the disk.
        """

        def find() -> dict[str, Mark]:
            found: dict[str, Mark] = {}
            files = self._files()
            if not files:
                return found
            lock = self.folder / _MARKS / disk.LOCK
            lock.touch()
            now = lock.stat().st_mtime
            for path in files:
                with suppress(FileNotFoundError):
                    mark, state = _parsed(path)
                    # A retired one, too: who retired it may have died before it was removed.
                    if state or now - path.stat().st_mtime > idle:
                        found[path.name] = mark
            return found

        return await disk.in_thread(Store.JOURNAL, find)

    async def retire(self, resting: Mapping[str, Mark]) -> list[str]:
        """Mark processes as retired.

        Args:
            resting: They, as they were found.

        Returns:
            Those of them that have come no further since. The stores may still know them.
        """

        def retire() -> list[str]:
            found: list[str] = []
            for writer, mark in resting.items():
                path = self.folder / _MARKS / writer
                with suppress(FileNotFoundError), disk.locked(path.parent):
                    now, state = _parsed(path)
                    if now == mark:
                        found.append(writer)
                        if state != _RETIRED:
                            self._put(writer, mark, _RETIRED)
            return found

        return await disk.in_thread(Store.JOURNAL, retire)

    async def removed(self, writer: str) -> None:
        """Record that no store knows a retired process any more.

        The journal still knows it: an older copy of a store may still have its marks, which then do not mean that the
        journal is older.
        """

        def write() -> None:
            path = self.folder / _MARKS / writer
            with disk.locked(path.parent):
                if path.exists():
                    disk.append(path.with_name(_REMOVED), f"{writer} {_parsed(path)[0].begun}\n".encode())
                    path.unlink()

        await disk.in_thread(Store.JOURNAL, write)

    def _told(self) -> Told:
        marks: dict[str, Mark] = {}
        for path in self._files():
            # One that was removed in between is a line of the file that is read next.
            with suppress(FileNotFoundError):
                mark, state = _parsed(path)
                # The stores may or may not still have a retired one; neither is a loss.
                marks[path.name] = mark._replace(done=0, claimed=0) if state == _RETIRED else mark
        return Told(known_id(self.folder), marks, self._gone())

    def _gone(self) -> dict[str, Mark]:
        path = self.folder / _MARKS / _REMOVED
        size = path.stat().st_size if path.exists() else 0
        if size != self._removed[0]:
            # A line that a crash cut off is written again, as its process still has its own file.
            found = _GONE.findall(path.read_text())
            self._removed = size, {name: Mark(begun=int(begun)) for name, begun in found}
        return self._removed[1]

    def _files(self) -> list[Path]:
        folder = self.folder / _MARKS
        return [one for one in folder.iterdir() if one.name not in (disk.LOCK, _REMOVED)] if folder.is_dir() else []

    def _write(self, writer: str, mark: Mark, *, new: bool) -> bool:
        if known_id(self.folder) is None:
            raise StoreLost(Store.JOURNAL, f"{self.folder} no longer holds it: mount it again, or restore its backup")
        path = self.folder / _MARKS / writer
        if new:
            disk.make_folder(path.parent)
        with disk.locked(path.parent):
            if not new and (not path.exists() or _parsed(path)[1]):
                return False
            self._put(writer, mark)
        if new:
            disk.sync_folder(path.parent)
        return True

    def _put(self, writer: str, mark: Mark, state: str = "") -> None:
        disk.make_folder(self.folder / _MARKS)
        line = f"{mark.begun} {mark.done} {mark.claimed}{state} v{MARK_FORMAT}"
        handle = os.open(self.folder / _MARKS / writer, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            size = os.pwrite(handle, f"{line:<{_WIDTH}}\n".encode(), 0)
            # A later build may have written a longer one.
            os.ftruncate(handle, size)
            os.fdatasync(handle)
        finally:
            os.close(handle)


def new_id() -> str:
    """Return an id that no journal has."""
    return secrets.token_hex(8)


def known_id(folder: Path) -> str | None:
    """Return the id of the journal in a folder; None where there is none."""
    return _line(folder, 0)


def known_fingerprint(folder: Path) -> str | None:
    """Return the fingerprint of the tenant key of the installation that a folder's journal belongs to."""
    return _line(folder, 1)


def _line(folder: Path, number: int) -> str | None:
    try:
        lines = (folder / ID).read_text().splitlines()
    except FileNotFoundError:
        return None
    return lines[number].strip() or None if len(lines) > number else None


def _parsed(path: Path) -> tuple[Mark, str]:
    # A file that was just made is empty: its process has not written anything yet.
    found = _MARK.fullmatch(path.read_bytes())
    if not found:
        return Mark(), ""
    # Words that a later build adds are ignored.
    state = next((one for one in (_RETIRED, _ENDED) if one.encode() in found[4]), "")
    return Mark(int(found[1]), int(found[2]), int(found[3])), state
