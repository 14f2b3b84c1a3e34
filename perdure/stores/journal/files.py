"""One tenant's files: appended, rotated, erased in place, compacted. Knows lines as bytes only.

``00000001.jsonl``, ``00000002.jsonl`` … are closed, ``current.jsonl`` grows. ``00000002.compacted.jsonl`` holds
what is needed of everything up to number 2, and stands for all of it from the moment at which it has its name.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from perdure.stores import disk

_CURRENT = "current.jsonl"
_DRAFT = "compacting"
_CLOSED = re.compile(r"(\d{8})(\.compacted)?\.jsonl")

_WORTH_IT = 1_000_000
"""Bytes below which a log is not compacted."""

HOLE = b" " * 64
"""What a crash in the middle of an erasure leaves within a line, at least: disks write whole sectors."""


class Files:
    """The files of one tenant. Callers catch OSError.

    Args:
        folder: The tenant's folder.
        rotate_at: The size in bytes beyond which the growing file is closed.
    """

    def __init__(self, folder: Path, rotate_at: int) -> None:
        self._folder = folder
        self._rotate_at = rotate_at

    def append(
        self,
        content: bytes,
        erased: Callable[[Sequence[bytes]], Collection[bytes]] | None = None,
        require: Callable[[], None] = lambda: None,
    ) -> bool:
        """Append lines, and return whether a file was closed for them.

        Args:
            content: The lines.
            erased: Says which of the lines that are there go, for good, before the new ones are there; what a crash
                has left unreadable goes with them.
            require: Called under the lock; where it raises, nothing is appended.
        """
        # Also before: a folder would be made anew of a user who was erased.
        require()
        disk.make_folder(self._folder)
        with disk.locked(self._folder):
            require()
            if erased is not None:
                # Also where none of the lines goes: an erasure that a crash cut off may have left half of one.
                self._erase(set(erased(self._lines())).__contains__)
            current = self._folder / _CURRENT
            size = current.stat().st_size if current.exists() else 0
            rotated = size > 0 and size + len(content) > self._rotate_at
            if rotated:
                self._rotate()
            disk.append(current, content)
        return rotated

    def read(self) -> list[bytes]:
        """Return all lines, oldest first."""
        if not self._folder.is_dir():
            return []
        with disk.locked(self._folder, shared=True):
            return self._lines()

    def newest(self) -> Generator[bytes]:
        """Return all lines that there are at the first one, newest first. Close it if you do not take all.

        Writers do not wait for it. Each file is read when it is reached: what is erased in it before that is blank.
        What is erased after its file was read, or was compacted away, is returned as it was when this began.
        """
        if not self._folder.is_dir():
            return
        with ExitStack() as opened:
            with disk.locked(self._folder, shared=True):
                # What is open can be read whatever becomes of its name. Not beyond what is there now: that may be half
                # a line, or one that is taken back as the disk is full.
                files = [opened.enter_context(path.open("rb")) for path in self._live()]
                sizes = [os.fstat(file.fileno()).st_size for file in files]
            for file, size in zip(reversed(files), reversed(sizes), strict=True):
                yield from reversed(file.read(size).split(b"\n"))

    def erase(self, names: Iterable[str], condemned: Callable[[bytes], bool]) -> None:
        """Overwrite lines with spaces, for good; what a crash has left unreadable goes with them.

        Args:
            names: Only lines with one of these in them are looked at.
            condemned: Says of such a line whether it goes.
        """
        if not self._folder.is_dir():
            return
        sought = [name.encode() for name in names]
        with disk.locked(self._folder):
            self._erase(lambda line: any(name in line for name in sought) and condemned(line))

    def compact(self, needed: Callable[[Sequence[bytes]], Sequence[bool]]) -> None:
        """Rewrite the log without the lines that are no longer needed, if there is enough to gain.

        Args:
            needed: Says which of some lines stay; what a crash has left unreadable goes without being asked about.
        """
        if not self._folder.is_dir():
            return
        with disk.locked(self._folder):
            self._remove_replaced()
            live = self._live()
            before = sum(path.stat().st_size for path in live if ".compacted" in path.name)
            if sum(path.stat().st_size for path in live) < max(_WORTH_IT, 2 * before):
                return
            if (self._folder / _CURRENT).exists():
                self._rotate()
            lines = [line for line in self._lines() if line.strip() and not is_torn(line)]
            content = b"".join(line + b"\n" for line, keep in zip(lines, needed(lines), strict=True) if keep)
            name = f"{self._last():08}.compacted.jsonl"
            disk.replace(self._folder / name, content, self._folder / _DRAFT)
            self._remove_replaced()

    def _erase(self, condemned: Callable[[bytes], bool]) -> None:
        self._remove_replaced()
        for path in self._live():
            _erase(path, condemned)

    def _lines(self) -> list[bytes]:
        return [line for path in self._live() for line in path.read_bytes().split(b"\n")]

    def _live(self) -> list[Path]:
        numbers = self._numbers()
        start = max((number for number, compacted in numbers.values() if compacted), default=0)
        closed = [path for path, place in numbers.items() if place[0] > start or place == (start, True)]
        current = self._folder / _CURRENT
        return [*sorted(closed), *([current] if current.exists() else [])]

    def _numbers(self) -> dict[Path, tuple[int, bool]]:
        found = ((path, _CLOSED.fullmatch(path.name)) for path in self._folder.iterdir())
        return {path: (int(match[1]), bool(match[2])) for path, match in found if match}

    def _last(self) -> int:
        return max((number for number, _ in self._numbers().values()), default=0)

    def _rotate(self) -> None:
        (self._folder / _CURRENT).rename(self._folder / f"{self._last() + 1:08}.jsonl")
        disk.sync_folder(self._folder)

    def _remove_replaced(self) -> None:
        """Remove what a compaction has replaced, and the draft of one that a crash ended."""
        live = set(self._live())
        replaced = [path for path in (*self._numbers(), self._folder / _DRAFT) if path not in live and path.exists()]
        for path in replaced:
            path.unlink()
        if replaced:
            disk.sync_folder(self._folder)


def _erase(path: Path, condemned: Callable[[bytes], bool]) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        place, erased = 0, False
        for line in path.read_bytes().split(b"\n"):
            if line.strip() and (condemned(line) or is_torn(line)):
                os.lseek(handle, place, os.SEEK_SET)
                disk.write(handle, b" " * len(line))
                erased = True
            place += len(line) + 1
        if erased:
            os.fsync(handle)
    finally:
        os.close(handle)


def is_torn(line: bytes) -> bool:
    """Return whether a line is not JSON, which only a crash leaves; a newer build's line is JSON."""
    if line.startswith(b"{") and line.endswith(b"}") and HOLE not in line:
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False
