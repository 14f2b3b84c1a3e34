"""A connection of the service: none may stay that says nothing, or never reads what it asked for."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

BEGINS_WITHIN = 10.0
"""Seconds within which the head of a connection's first request has to be there; a choice. Without a limit, connections
that send a byte now and then keep the others out."""

STALLS_AT_MOST = 60.0
"""Seconds that a client may leave an answer unread; a choice."""


class PatientProtocol(H11Protocol):
    """uvicorn's own protocol, with two deadlines that it has not."""

    _begins: asyncio.TimerHandle | None = None
    _stalls: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._begins = self.loop.call_later(BEGINS_WITHIN, self._unless_begun)

    def _unless_begun(self) -> None:
        if self.cycle is None:  # pyright: ignore[reportUnnecessaryComparison]  until the first request there is none
            self.transport.abort()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._stalls = self.loop.call_later(STALLS_AT_MOST, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        super().resume_writing()
        if self._stalls is not None:
            self._stalls.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        for timer in (self._begins, self._stalls):
            if timer is not None:
                timer.cancel()
