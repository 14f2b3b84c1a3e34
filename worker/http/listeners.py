"""What is done only for as long as somebody waits for it, and the service runs."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from perdure.errors import StillRunning, Unavailable

T = TypeVar("T")


async def while_connected(
    work: Coroutine[Any, Any, T], receive: Receive, ending: asyncio.Event | None, *, grace: float = 0.0
) -> T:
    """Return what something comes to; once the client is away or the service ends, it is waited for no more.

    Only for what changes nothing: a change goes on to its end, whoever listens.

    Args:
        work: What is asked. It is cancelled where nobody waits for it any more.
        receive: What comes from the client.
        ending: Set once the service ends; None: what is asked waits for nothing, and is answered then too.
        grace: Seconds that it has for its end once the service ends.

    Raises:
        StillRunning: The client is away, so that nobody reads this.
        Unavailable: The service ends.
    """
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(receive))
    stopping = asyncio.create_task((ending or asyncio.Event()).wait())
    tasks: set[asyncio.Task[Any]] = {working, leaving, stopping}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if stopping.done() and grace:
            await asyncio.wait({working, leaving}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if leaving.done():
            raise StillRunning("the client went away")
        raise Unavailable("this service ends: ask again in a moment")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
