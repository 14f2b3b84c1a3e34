"""Deadlines by the clock of a worker's machine: a second opinion, for when the clock of Redis is set forward."""

import functools
import time
from pathlib import Path

BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Runs on while the machine or the process is suspended, and is never set."""

_UNKNOWN = "unknown"


def noted(seconds: float) -> str:
    """Return a deadline for others to read: on this machine by its boot clock, elsewhere by the time of day."""
    return f"{_boot()} {time.clock_gettime(BOOT_CLOCK) + seconds:.3f} {time.time() + seconds:.3f} {seconds:.3f}"


def left(note: str) -> float:
    """Return the seconds to a deadline that was noted, and never more than there were at first.

    >>> 4.9 < left(noted(5.0)) <= 5.0
    True
    >>> left("another-machine 0.0 9999999999.0 5.0")
    5.0
    >>> left("another-machine 0.0 9999999999.0 5.0 of-a-later-build")
    5.0
    """
    # Words that a later build adds are ignored.
    boot, by_boot, by_day, seconds = note.split(" ")[:4]
    same = boot == _boot() != _UNKNOWN
    deadline, now = (by_boot, time.clock_gettime(BOOT_CLOCK)) if same else (by_day, time.time())
    return min(float(seconds), float(deadline) - now)


@functools.cache
def _boot() -> str:
    """Return what the boot clock of this machine began with."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return _UNKNOWN
