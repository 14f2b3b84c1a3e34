"""Owns what a data folder says about the servers that run in it: who holds it, and ``servers.json``.

The lock tells whether a supervisor lives, never the file: a killed one leaves its file behind.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO

from pydantic import Field, SecretStr, ValidationError

from localservers.cache import unusable
from localservers.fleet import replace, weaviate_key
from perdure.model import Model
from perdure.settings import Addresses

_ORDER = "worker-order.json"


class Running(Model):
    """A process of the fleet."""

    pid: int
    how: str = ""
    """The route that led to its program."""
    path: str = ""
    restarts: int = 0
    settings: str = ""
    """The fingerprint of a worker's settings."""
    problem: str = ""
    """The last that a worker said before it gave up; empty if it did not."""


class WorkerOrder(Model):
    """How a worker is to be started that somebody wants beside servers which run already."""

    environment: dict[str, str]
    """That of whoever wants it, with the settings."""
    settings: str
    """The fingerprint of these."""


class State(Model):
    """What ``servers.json`` says."""

    pid: int
    """The supervisor's."""
    addresses: Addresses
    servers: dict[str, Running] = Field(default_factory=dict)
    """The servers that were started here, by name; those that the settings name are absent."""
    worker: Running | None = None


class HomeLock:
    """The lock that makes a data folder one supervisor's own; the kernel lets go of it when its holder dies."""

    def __init__(self, home: Path) -> None:
        self.path = home / "supervisor.lock"
        self._file: IO[str] | None = None

    def acquire(self, patience: float = 2.0) -> bool:
        """Take the lock and note our process id in it; False if another process keeps it.

        Args:
            patience: Seconds to bear with somebody who merely looks whether it is held.
        """
        file = self.path.open("a")
        until = time.monotonic() + patience
        # A killed holder leaves its id, which may be somebody else's by now: it goes while nobody can be the holder,
        # so that whoever finds the lock held never takes the old id for the holder's.
        while not (_try_lock(file, fcntl.LOCK_SH) and file.truncate(0) == 0 and _try_lock(file, fcntl.LOCK_EX)):
            if time.monotonic() > until:
                file.close()
                return False
            time.sleep(0.02)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file
        return True

    def holder(self) -> int | None:
        """Give the process id of whoever holds the lock, 0 while it is not noted yet; None if nobody does."""
        try:
            file = self.path.open()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unusable(self.path.parent, error) from error
        with file:
            return None if _try_lock(file, fcntl.LOCK_SH) else int(file.read() or 0)

    def wait_released(self, within: float, going: Callable[[], None] = lambda: None) -> bool:
        """Wait until nobody holds the lock; False when the time is over."""
        until = time.monotonic() + within
        while self.holder() is not None:
            if time.monotonic() > until:
                return False
            going()
            time.sleep(0.05)
        return True


def _try_lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_state(home: Path) -> State | None:
    """Give what ``servers.json`` says, with the key that is kept beside it; None where it says nothing."""
    try:
        state = State.model_validate_json((home / "servers.json").read_text())
    except (FileNotFoundError, ValidationError):
        return None
    if "weaviate" not in state.servers:
        return state
    addresses = state.addresses.changed(weaviate_api_key=SecretStr(weaviate_key(home)))
    return state.changed(addresses=addresses)


def write_state(home: Path, state: State) -> None:
    """Write ``servers.json``, whole or not at all; without the key."""
    bare = state.changed(addresses=state.addresses.changed(weaviate_api_key=None))
    replace(home / "servers.json", bare.model_dump_json(indent=1))


@contextlib.contextmanager
def ordered(home: Path, order: WorkerOrder) -> Generator[None]:
    """Leave an order for the supervisor while it is being carried out; it may hold secrets."""
    file = home / _ORDER
    replace(file, order.model_dump_json())
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def read_order(home: Path) -> WorkerOrder | None:
    """Give the order that waits, if one does."""
    try:
        return WorkerOrder.model_validate_json((home / _ORDER).read_text())
    except (FileNotFoundError, ValidationError):
        return None


def remove_state(home: Path) -> None:
    """Remove ``servers.json``."""
    (home / "servers.json").unlink(missing_ok=True)
