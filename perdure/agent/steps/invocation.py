"""Calling a tool's function: cut off in time, and not sooner. Knows nothing of claims."""

import asyncio
import contextlib
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import partial
from typing import Any, TypeVar

from perdure.errors import Blocked, PerdureError, ToolFailed
from perdure.frames import class_of, said_by
from perdure.secrets.redaction import KNOWN

R = TypeVar("R")


def always() -> bool:
    """Return True: an effect that must not be repeated ends in any case."""
    return True


async def ended(call: "asyncio.Task[Any]", lets_end: Callable[[], bool] = always) -> Any:
    """Wait until a call has ended, also where the wait is cancelled: an effect is not cut before its deadline.

    Args:
        call: The call.
        lets_end: Whether that holds for the cancellation that came; otherwise the call is cut off.
    """
    while not call.done():
        try:
            await asyncio.shield(call)
        except asyncio.CancelledError:
            if not (call.done() or lets_end()):
                call.cancel()
    return call.result()


@contextlib.asynccontextmanager
async def calling(tool: str, seconds: float, *, left: float | None = None) -> AsyncGenerator[asyncio.Timeout]:
    """Cut off a call of a tool's function after some seconds. It bears the tool's name, for who looks at the loop.

    Args:
        tool: The tool's name.
        seconds: How long a call may take.
        left: How much of it is left.

    Yields:
        What cuts it off.

    Raises:
        ToolFailed: It raised an exception of its own, or took longer than the tool may. Its text has no secret in it
            that this process knows.
    """
    task = asyncio.current_task()
    before = task.get_name() if task else ""
    limit = asyncio.timeout(seconds if left is None else left)
    try:
        if task:
            task.set_name(f"tool {tool}")
        async with limit:
            yield limit
    except PerdureError as problem:
        KNOWN.error(problem)
        if isinstance(problem, Blocked):
            # It would say that nothing happened, and only policies know that of a call.
            raise ToolFailed(tool, type(problem).__name__, said_by(problem), problem) from problem
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as problem:
        # Of what a tool raises, only our own cancellation ends more than the call.
        if isinstance(problem, asyncio.CancelledError) and task and task.cancelling():
            raise
        # A tool, or a client that it uses, may have a timeout of its own.
        is_late = isinstance(problem, TimeoutError) and limit.expired()
        text = f"it took longer than {seconds:g} s" if is_late else said_by(problem)
        # A file name that is not UTF-8 has surrogates in it, which no history and no episode can carry.
        text = text.encode(errors="replace").decode()
        raise ToolFailed(tool, class_of(problem), KNOWN.text(text), problem) from None
    finally:
        if task:
            task.set_name(before)


@types.coroutine
def in_time(call: Coroutine[Any, Any, R], left: Callable[[], float], limit: asyncio.Timeout) -> Generator[Any, Any, R]:
    """Run a call no further once its time is over; returns what it returns.

    A timer alone lets it act late: what the call waited for may be there while the loop is held up, or the process is
    stopped, until long after the deadline. It is then resumed before the timer is looked at. What runs from there to
    the next ``await`` is one step of the loop, in which nothing can stop it.

    Args:
        call: The call of a coroutine function.
        left: Returns the seconds that it has.
        limit: What cuts it off.
    """
    resume: Callable[[], Any] = partial(call.send, None)
    try:
        while True:
            if left() <= 0 and not limit.expired():
                # Cancels this task in the next turn of the loop, before it comes back to here.
                limit.reschedule(asyncio.get_running_loop().time())
                resume = yield from _waited(call, None)
            resume = yield from _waited(call, resume())
    except StopIteration as end:
        return end.value
    finally:
        call.close()


def _waited(call: Coroutine[Any, Any, Any], awaited: Any) -> Generator[Any, Any, Callable[[], Any]]:
    """Wait for what a call waits for; return what resumes the call."""
    try:
        given = yield awaited
    except BaseException as problem:
        if isinstance(problem, GeneratorExit):
            raise
        return partial(call.throw, problem)
    return partial(call.send, given)
