"""The watch over a worker's loop: notices that something blocks it, and names the tool and the line."""

import asyncio
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

import structlog

PERIOD = 0.25
"""Seconds between two looks."""

LIMIT = 1.0
"""Seconds without an answer that are reported: half of the shortest heartbeat time-out that is usual here, after which
the worker counts as dead and its attempts are made elsewhere."""

_log = structlog.get_logger(__name__)


@contextmanager
def watched_loop(limit: float = LIMIT) -> Generator[None]:
    """Watch the running loop from a thread, for as long as the block lasts.

    Args:
        limit: Seconds without an answer that are reported.
    """
    watch = _Watch(asyncio.get_running_loop(), limit)
    thread = threading.Thread(target=watch.run, name="loop watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watch.stopped.set()


class _Watch:
    def __init__(self, loop: asyncio.AbstractEventLoop, limit: float) -> None:
        self._loop = loop
        self._thread = threading.get_ident()
        self._limit = limit
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(PERIOD):
            answered, asked_at = threading.Event(), time.monotonic()
            try:
                self._loop.call_soon_threadsafe(answered.set)
            except RuntimeError:  # The loop was closed.
                return
            if answered.wait(self._limit) or self.stopped.is_set():
                continue
            by, where = self._culprit()
            _log.error("the worker's loop is blocked", by=by, where=where, fix="make it a plain function: def")
            while not answered.wait(self._limit) and not self.stopped.is_set():
                pass
            _log.error("the worker's loop was blocked", by=by, seconds=round(time.monotonic() - asked_at, 1))

    def _culprit(self) -> tuple[str, str]:
        """Return what runs in the loop, and the line that it is at."""
        frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] - there is no other way to a thread's line
        task, frame = asyncio.current_task(self._loop), frames.get(self._thread)
        where = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}" if frame else ""
        return task.get_name() if task else "a callback", where
