"""Work that a tool's call does in threads: counted, since a thread goes on where its call was cut off.

A call is known by a context variable when it submits work to the executor of this module, which is the default one of
a worker's loop: what plain functions and ``asyncio.to_thread`` start is counted, also where such work starts more.
Threads that a tool starts by itself, and executors of its own, are not.
"""

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 128
"""More than the 100 activities that a worker runs at once, so that tools in threads do not hold up the stores'
clients. Threads are only made when they are needed."""


class Work:
    """What one call has running in threads."""

    def __init__(self) -> None:
        self._running = 0
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        """Whether any of it goes on."""
        return self._running > 0

    def add(self, number: int) -> None:
        """Count work that begins, or ends."""
        with self._lock:
            self._running += number


_current: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def counted() -> Generator[Work]:
    """Count what the block, and the tasks that it creates, start in threads."""
    work = Work()
    before = _current.set(work)
    try:
        yield work
    finally:
        _current.reset(before)


class CountingExecutor(ThreadPoolExecutor):
    """Threads that count, for each call, what it started in them."""

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run a function in a thread, on account of the call that asks for it."""
        work = _current.get()
        if work is None:
            return super().submit(fn, *args, **kwargs)
        work.add(1)
        try:
            future = super().submit(fn, *args, **kwargs)
        except BaseException:
            work.add(-1)
            raise
        future.add_done_callback(lambda _: work.add(-1))
        return future


_executors: WeakKeyDictionary[asyncio.AbstractEventLoop, CountingExecutor] = WeakKeyDictionary()


def count_threads() -> None:
    """Make the running loop's default executor one that counts; a second time changes nothing."""
    loop: Any = asyncio.get_running_loop()
    if loop not in _executors:
        _executors[loop] = CountingExecutor(THREADS, thread_name_prefix="tool")
        loop.set_default_executor(_executors[loop])
