"""Calling a function that somebody wrote, plain or not. Knows nothing of tools."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Within = Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]]
"""Awaits what a function does in the loop, and may cut it off; what comes back from a thread is taken however late."""


async def awaited(one: Awaitable[Any]) -> Any:
    """Await something as it is."""
    return await one


async def run(function: Callable[..., Any], within: Within, *args: Any, **keywords: Any) -> Any:
    """Call a function: a plain one in a thread, which leaves the loop free; returns what it gives in the end.

    Args:
        function: The function.
        within: Awaits a coroutine function's coroutine, and what a plain function returns to be awaited.
        args: Its arguments by place.
        keywords: Its arguments by name.

    Raises:
        RuntimeError: The function raised ``StopIteration``, as Python says it of coroutines (PEP 479).
    """
    if inspect.iscoroutinefunction(function):
        return await within(function(*args, **keywords))
    returned = await asyncio.to_thread(_called, function, *args, **keywords)
    # A plain decorator around a coroutine function has only made the coroutine, which has done nothing yet.
    return await within(awaited(returned)) if inspect.isawaitable(returned) else returned


def _called(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    try:
        return function(*args, **keywords)
    except StopIteration as end:
        # No future can carry it: whoever waits for the thread would never be told.
        raise RuntimeError("function raised StopIteration") from end
