"""What a supervisor and the processes that use it tell each other: the lock, ``servers.json`` and the pipes.

Only the lock shows whether a supervisor is alive; a killed one leaves its ``servers.json`` behind.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator
from pathlib import Path
from typing import IO, Literal

from pydantic import Field, SecretStr, ValidationError

from localservers.files import replace, unusable, wait_until
from localservers.find import Found
from localservers.fleet import weaviate_key
from localservers.origin import SettingsOrigin
from localservers.recipes import Server
from perdure.model import Model, Passed, Stored
from perdure.settings import Addresses

_ORDER = "worker-order.json"


class Launch(Model):
    """What a supervisor is to run; it reads this from its standard input."""

    found: dict[Server, Found]
    worker: bool
    origin: SettingsOrigin


class Report(Model):
    """One line that a starting supervisor writes to its standard output."""

    kind: Literal["progress", "ready", "locked", "failed"]
    text: str = ""


class Running(Passed):
    """A process of the fleet."""

    pid: int
    restarts: int = 0
    settings: str = ""
    """The fingerprint of a worker's settings."""
    origin: SettingsOrigin = SettingsOrigin()
    """Where a worker has its settings from."""
    problem: str = ""
    """The last log line of a worker that exited with an error; otherwise empty."""
    is_foreground: bool = False
    """Whether it is a worker that somebody runs in a terminal; no supervisor may stop it."""

    @property
    def how_to_restart(self) -> str:
        """What a person does to restart a worker with the settings of now."""
        if self.is_foreground:
            return f"stop process {self.pid} in its terminal, and start it anew"
        return "run 'perdure restart'"

    def how_to_agree(self, here: SettingsOrigin) -> str:
        """How to bring a running worker's settings in line with these."""
        apply = f"to apply these, {self.how_to_restart}"
        if not self.origin.difference(here):
            return apply
        return f"to use its settings, {self.origin.how_to_use(here)}; {apply}"


class WorkerOrder(Passed):
    """Request to start a worker next to servers that already run."""

    environment: dict[str, str]
    """The environment of the process that requests it, including the settings."""
    settings: str
    """The fingerprint of those settings."""
    origin: SettingsOrigin = SettingsOrigin()
    """Where that process has them from."""


class FleetState(Stored):
    """The content of ``servers.json``."""

    pid: int
    """The supervisor's process id."""
    addresses: Addresses
    servers: dict[str, Running] = Field(default_factory=dict)
    """The servers that were started here, by name; configured ones are not among them."""
    worker: Running | None = None
    """The supervisor's own worker."""
    service: Running | None = None
    """The HTTP service."""
    service_url: str = ""
    foreground: tuple[Running, ...] = ()
    """The workers that serve in terminals; the supervisor does not know them, and writes none."""

    @property
    def workers(self) -> tuple[Running, ...]:
        """All workers of this machine that serve these servers."""
        return (*([self.worker] if self.worker else []), *self.foreground)


class HomeLock:
    """The lock that gives a data folder to one supervisor; the kernel releases it when its holder dies."""

    def __init__(self, home: Path) -> None:
        self.path = home / "supervisor.lock"
        self._file: IO[str] | None = None

    def acquire(self, patience: float = 2.0) -> bool:
        """Take the lock and write our process id into it; return False if another process holds it.

        Args:
            patience: Seconds to keep trying: a process that only checks whether the lock is held blocks it briefly.
        """
        file = self.path.open("a")

        def taken() -> bool:
            # A killed holder leaves its id behind, which another process may have by now. It is erased under a shared
            # lock, before the exclusive one, so that nobody takes it for the new holder's id.
            return _try_lock(file, fcntl.LOCK_SH) and file.truncate(0) == 0 and _try_lock(file, fcntl.LOCK_EX)

        if not wait_until(taken, patience, 0.02):
            file.close()
            return False
        file.write(str(os.getpid()))
        file.flush()
        self._file = file
        return True

    def holder(self) -> int | None:
        """Return the process id of the lock's holder, 0 if it is not written yet, or None if nobody holds it."""
        try:
            file = self.path.open()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unusable(self.path.parent, error) from error
        with file:
            return None if _try_lock(file, fcntl.LOCK_SH) else int(file.read() or 0)


def _try_lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_state(home: Path) -> FleetState | None:
    """Return the content of ``servers.json`` with Weaviate's key from its own file, or None if there is none."""
    try:
        state = FleetState.model_validate_json((home / "servers.json").read_text())
    except (FileNotFoundError, ValidationError):
        return None
    if "weaviate" not in state.servers:
        return state
    addresses = state.addresses.changed(weaviate_api_key=SecretStr(weaviate_key(home)))
    return state.changed(addresses=addresses)


def write_state(home: Path, state: FleetState) -> None:
    """Write ``servers.json``, without Weaviate's key."""
    bare = state.changed(addresses=state.addresses.changed(weaviate_api_key=None))
    replace(home / "servers.json", bare.model_dump_json(indent=1))


@contextlib.contextmanager
def ordered(home: Path, order: WorkerOrder) -> Generator[None]:
    """Leave an order for the supervisor only as long as it takes to carry it out: it may contain secrets."""
    file = home / _ORDER
    replace(file, order.model_dump_json())
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def read_order(home: Path) -> WorkerOrder | None:
    """Return the waiting order, if there is one."""
    try:
        return WorkerOrder.model_validate_json((home / _ORDER).read_text())
    except (FileNotFoundError, ValidationError):
        return None
