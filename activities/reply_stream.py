"""A reply on its way to whoever reads along, while its model gives it. Nothing waits for it, or fails because of it."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from perdure.errors import StoreRefused, StoreUnavailable, TenantErased
from perdure.stores.redis.reply_streams import ReplyStreams
from perdure.values.chats import PieceKind, ReplyPiece, ReplyPlace

_PAUSE = 0.05
"""Seconds between two pieces, a choice: a model gives some hundred tokens a second, and Redis syncs each write."""

_FLUSHED_WITHIN = 2.0
"""Seconds that the last pieces have to be written in, before the turn goes on without them: a choice."""


@asynccontextmanager
async def streamed(
    streams: ReplyStreams, place: ReplyPlace, turn: int, *, epoch: int | None
) -> AsyncGenerator[Callable[[str], None]]:
    """Write what an attempt at a turn says to whoever reads along; yields what is called with each piece of its text.

    An attempt that is killed, or fails, leaves what it has said. The next one begins with a mark.

    Args:
        streams: Where it is written.
        place: The reply.
        turn: The number of the model's turn.
        epoch: The tenant's epoch that the conversation was begun under.
    """
    writer = _Writer(streams, place, turn, epoch)
    writing = asyncio.create_task(writer.run())
    try:
        yield writer.say
        writer.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(_FLUSHED_WITHIN):
                await asyncio.shield(writing)
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


class _Writer:
    def __init__(self, streams: ReplyStreams, place: ReplyPlace, turn: int, epoch: int | None) -> None:
        self._streams = streams
        self._place = place
        self._epoch = epoch
        self._last = ReplyPiece(turn=turn, attempt=secrets.token_hex(8), number=-1, kind=PieceKind.BEGUN)
        self._said: list[str] = []
        self._woken = asyncio.Event()
        self._is_over = False

    def say(self, text: str) -> None:
        self._said.append(text)
        self._woken.set()

    def end(self) -> None:
        self._is_over = True
        self._woken.set()

    async def run(self) -> None:
        # Who reads along gets the reply in the end in any case.
        with suppress(StoreUnavailable, StoreRefused, TenantErased):
            await self._write(PieceKind.BEGUN)
            while not self._is_over or self._said:
                await self._woken.wait()
                self._woken.clear()
                if text := "".join(self._said):
                    self._said.clear()
                    await self._write(PieceKind.TEXT, text)
                    if not self._is_over:
                        await asyncio.sleep(_PAUSE)
            await self._write(PieceKind.ENDED)

    async def _write(self, kind: PieceKind, text: str = "") -> None:
        self._last = self._last.changed(number=self._last.number + 1, kind=kind, text=text)
        await self._streams.add(self._place, self._last, epoch=self._epoch)
