"""The ledger: what really happened, written outside everything that is tested. One synced line for each event."""

import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

LINE = 256
"""Bytes of a line, filled up with spaces. A page holds a whole number of them: a longer write is copied page by page,
and in between its process can be killed, or another process read the half of it."""


class Events(NamedTuple):
    """What a ledger says."""

    done: Counter[str]
    """How often each effect happened, by its idempotency key."""
    open: Counter[int]
    """How many attempts at an effect are between their beginning and their end, by the process, which lives."""


def note(ledger: str, event: str, key: str) -> None:
    """Append an event of this process: ``begun``, ``done`` or ``ended``."""
    _append(Path(ledger), f"{event} {key} {os.getpid()} {time.time():.4f}")


def note_death(ledger: Path, pid: int) -> None:
    """Append that a process has died, with all that it had open. Call it before another can get the same id."""
    _append(ledger, f"died - {pid} {time.time():.4f}")


def note_stop(ledger: Path, pid: int, event: str) -> None:
    """Append that a process was stopped, or is about to be woken."""
    _append(ledger, f"{event} - {pid} {time.time():.4f}")


def read(ledger: Path) -> Events:
    """Return what happened so far."""
    return events_of(_lines(ledger))


def story_of(ledger: Path, key: str) -> list[str]:
    """Return the lines about an effect, and about what became of the processes that have begun it."""
    lines = _lines(ledger)
    processes = {line.split(" ")[2] for line in lines if line.split(" ")[1] == key}
    return [
        line
        for line in lines
        if line.split(" ")[1] == key or (line.split(" ")[1] == "-" and line.split(" ")[2] in processes)
    ]


def events_of(lines: Iterable[str]) -> Events:
    """Return what the lines of a ledger say, in their order.

    An attempt is open until it has ended, whether the effect happened or not, or until its process has died:
    otherwise what a killed process had begun would count as open for the rest of the run.
    """
    done: Counter[str] = Counter()
    open_by_process: dict[int, Counter[str]] = {}
    for line in lines:
        event, key, process = line.split(" ")[:3]
        under_way = open_by_process.setdefault(int(process), Counter())
        if event == "begun":
            under_way[key] += 1
        elif event == "done":
            done[key] += 1
        elif event == "ended":
            under_way[key] -= 1
        elif event == "died":
            under_way.clear()
    return Events(done, +Counter({process: under_way.total() for process, under_way in open_by_process.items()}))


def _lines(ledger: Path) -> list[str]:
    return [line.rstrip() for line in ledger.read_text().splitlines()] if ledger.exists() else []


def _append(ledger: Path, line: str) -> None:
    written = line.encode().ljust(LINE - 1) + b"\n"
    if len(written) != LINE:
        raise ValueError(f"a line of the ledger has at most {LINE - 1} bytes; this one has {len(written) - 1}")
    handle = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        if os.write(handle, written) != LINE:
            raise OSError(f"a line of {ledger} was written in part")
        os.fsync(handle)
    finally:
        os.close(handle)
