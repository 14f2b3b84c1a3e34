"""Following a task by server-sent events. Nothing is queued: what a client does not read holds up its own stream."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing, suppress
from datetime import UTC, datetime

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from perdure.base_error import PerdureError
from perdure.errors import StillRunning, Unavailable
from perdure.values.access_tokens import Caller
from worker.gateway import Gateway
from worker.http.endpoints import EVENTS
from worker.http.listeners import while_connected
from worker.http.problems import problem_of

EVERY = 1.0
"""Seconds between two looks at a task; a choice: a worker answers each in milliseconds."""

LASTS = 600.0
"""Seconds after which a stream ends, and its client connects again: a token that was revoked then counts no longer."""

STREAMS = 200
"""Streams of one process; a choice of 200 looks a second at most."""

STREAMS_OF_ONE = 20
"""Streams of one user, or of one token for any user; a choice."""

ENDS_WITHIN = 2.0
"""Seconds that a stream has for its last event once the service ends: a client that reads nothing would hold it up."""

_QUIET = 15.0
"""Seconds without news after which a comment is sent, so that nothing on the way takes the stream for dead."""


class EventStream(Response):
    """An answer that is sent event by event, until it ends or the client goes away.

    Args:
        events: What is sent.
        place: Counts the stream while it is open.
        ending: Set once the service ends.
    """

    media_type = EVENTS

    def __init__(
        self, events: AsyncGenerator[bytes], place: AbstractContextManager[None], ending: asyncio.Event
    ) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._place = place
        self._ending = ending
        # What is refused has to be answered before the stream begins.
        self._place.__enter__()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            # Whoever left, or is told to connect again, needs no other answer.
            with suppress(StillRunning, Unavailable):
                await while_connected(self._send_all(send), receive, self._ending, grace=ENDS_WITHIN)
        finally:
            self._place.__exit__(None, None, None)

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._events) as events:
            async for one in events:
                # It waits while the client does not read.
                await send({"type": "http.response.body", "body": one, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def followed(
    here: Gateway, workflow_id: str, caller: Caller, *, request_id: str, ending: asyncio.Event
) -> AsyncGenerator[bytes]:
    """Yield the events of a task until it has ended, or the stream has lasted long enough, or it cannot be looked at.

    A service that ends waits for its streams: each ends with it, and its client connects again by itself.

    Args:
        here: The gateway.
        workflow_id: The task.
        caller: Who follows it: no longer than the token counts.
        request_id: Named with what is wrong.
        ending: Set once the service ends.
    """
    yield b"retry: 2000\n\n"
    try:
        async with aclosing(_news(here, workflow_id, caller, ending)) as news:
            async for one in news:
                yield one
    except PerdureError as error:
        # The status was sent long ago. The client connects again by itself.
        yield _event("problem", problem_of(error, request_id))


async def _news(here: Gateway, workflow_id: str, caller: Caller, ending: asyncio.Event) -> AsyncGenerator[bytes]:
    clock = asyncio.get_running_loop().time
    until, told, heard = clock() + _lasts(caller), b"", clock()
    while clock() < until and not ending.is_set():
        is_open = await here.is_running(workflow_id, by=caller.actor)
        progress = await here.progress(workflow_id, by=caller.actor)
        if progress is not None and (now := _event("progress", progress)) != told:
            told, heard = now, clock()
            yield now
        if not is_open:
            result = await here.ended(workflow_id, by=caller.actor)
            yield _event("end", result) if result else b"event: end\ndata: null\n\n"
            return
        if clock() - heard > _QUIET:
            heard = clock()
            yield b": nothing new\n\n"
        with suppress(TimeoutError):
            await asyncio.wait_for(ending.wait(), EVERY)


def _lasts(caller: Caller) -> float:
    if caller.expires_at is None:
        return LASTS
    return min(LASTS, (caller.expires_at - datetime.now(UTC)).total_seconds())


def _event(name: str, value: BaseModel) -> bytes:
    # JSON has no line breaks of its own, so a text cannot end the event.
    return f"event: {name}\ndata: {value.model_dump_json()}\n\n".encode()
