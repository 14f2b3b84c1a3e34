"""Workers that people run in terminals on the servers of a data folder: each announces itself, for as long as it lives.

An announcement is a file that its worker keeps locked. The kernel releases the lock when the worker dies, however that
happens, so what nobody holds is what a dead one left behind.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from localservers.files import writable
from localservers.origin import SettingsOrigin
from perdure.model import Stored

_FOLDER = "foreground"
_NAMED = "[!.]*.json"
_HANDED_OVER = "_PERDURE_ANNOUNCEMENT"
"""The variable with which a process tells the program that replaces its own which open file is its announcement."""


class Announcement(Stored):
    """A worker that serves in a terminal."""

    pid: int
    settings: str
    """The fingerprint of its settings."""
    temporal: str
    """The address of the Temporal that it serves."""
    origin: SettingsOrigin = SettingsOrigin()
    """Where it has its settings from."""


def announce(home: Path, *, settings: str, temporal: str, origin: SettingsOrigin) -> int:
    """Announce this process as a worker until it ends.

    Args:
        home: The data folder.
        settings: The fingerprint of its settings.
        temporal: The address of the Temporal that it serves.
        origin: Where it has its settings from.

    Returns:
        The open file that is its announcement; ``hand_over`` takes it.
    """
    folder = home / _FOLDER
    with writable(folder):
        for left in folder.glob(_NAMED):
            if not _is_held(left):
                left.unlink(missing_ok=True)
        # It gets its name once it is locked and whole: whoever looks in between sees nothing, or the one before.
        held, made = tempfile.mkstemp(dir=folder, prefix=".")
        fcntl.flock(held, fcntl.LOCK_EX)
        announced = Announcement(pid=os.getpid(), settings=settings, temporal=temporal, origin=origin)
        os.write(held, announced.model_dump_json().encode())
        Path(made).replace(folder / f"{os.getpid()}.json")
    if before := os.environ.pop(_HANDED_OVER, None):
        os.close(int(before))
    return held


def hand_over(held: int) -> None:
    """Have the program that is about to replace this process's own keep its announcement, and announce itself anew."""
    os.set_inheritable(held, True)
    os.environ[_HANDED_OVER] = str(held)


def announced(home: Path) -> tuple[Announcement, ...]:
    """Return the workers that serve in terminals, by process id."""
    return tuple(sorted(_announced(home), key=lambda one: one.pid))


def _announced(home: Path) -> Iterator[Announcement]:
    for file in (home / _FOLDER).glob(_NAMED):
        try:
            if _is_held(file):
                yield Announcement.model_validate_json(file.read_text())
        except (FileNotFoundError, ValidationError):
            continue


def _is_held(file: Path) -> bool:
    while True:
        try:
            with file.open() as opened:
                fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
                # Its worker may have announced itself anew since it was opened: then another file has its name.
                if os.path.samestat(os.fstat(opened.fileno()), file.stat()):
                    return False
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
