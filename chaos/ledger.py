"""The ledger: what really happened, written outside everything that is tested. One synced line for each event."""

import os
from collections import Counter
from pathlib import Path
from typing import NamedTuple


class Events(NamedTuple):
    """What a ledger says."""

    begun: Counter[str]
    done: Counter[str]
    """How often each effect happened, by its idempotency key."""

    @property
    def open(self) -> int:
        """How many effects were begun and have not happened."""
        return sum((self.begun - self.done).values())


def note(ledger: str, event: str, key: str) -> None:
    """Append an event: ``begun`` or ``done``. A line is far shorter than what one write keeps whole."""
    handle = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{event} {key}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def read(ledger: Path) -> Events:
    """Return what happened so far."""
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    events = [line.split(" ") for line in lines]
    begun, done = (Counter(key for event, key in events if event == name) for name in ("begun", "done"))
    return Events(begun, done)
