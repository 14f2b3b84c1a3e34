"""Waiting for several calls at once, until one fails; and waiting for one call even when cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, overload

_A = TypeVar("_A")
_B = TypeVar("_B")
_C = TypeVar("_C")
_D = TypeVar("_D")


async def to_its_end(call: Coroutine[Any, Any, _A]) -> _A:
    """Wait for a call to end even if the wait is cancelled, so that nothing goes on behind the caller's back."""
    task = asyncio.create_task(call)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


@overload
async def together(one: Coroutine[Any, Any, _A], other: Coroutine[Any, Any, _B], /) -> tuple[_A, _B]: ...
@overload
async def together(
    one: Coroutine[Any, Any, _A], two: Coroutine[Any, Any, _B], three: Coroutine[Any, Any, _C], /
) -> tuple[_A, _B, _C]: ...
@overload
async def together(
    one: Coroutine[Any, Any, _A],
    two: Coroutine[Any, Any, _B],
    three: Coroutine[Any, Any, _C],
    four: Coroutine[Any, Any, _D],
    /,
) -> tuple[_A, _B, _C, _D]: ...
@overload
async def together(*calls: Coroutine[Any, Any, _A]) -> tuple[_A, ...]: ...
async def together(*calls: Coroutine[Any, Any, Any]) -> tuple[Any, ...]:
    """Run all calls at once and return their results, in order.

    When one call fails, the others are cancelled and waited for before its error is raised: with
    ``asyncio.gather`` alone they would go on behind the caller's back, and open again what it has closed.

    It is awaited at once, and never one of another one's calls: cancelled before it begins, it would drop its own.
    """
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return tuple(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
