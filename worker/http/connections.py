"""Connections of the service: those that send or read nothing are closed."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

BEGINS_WITHIN = 10.0
"""Seconds within which the head of a request has to be there once a connection is made, or once something came that is
no request yet; a choice. Without a limit, connections that send a byte now and then keep the others out."""

STALLS_AT_MOST = 60.0
"""Seconds that a client may read nothing of an answer; a choice."""


class PatientProtocol(H11Protocol):
    """uvicorn's own protocol, with two deadlines that it has not."""

    _begins: asyncio.TimerHandle | None = None
    _stalls: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._begins = self.loop.call_later(BEGINS_WITHIN, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        """Wait no longer than that for the rest of a request's head, which stops uvicorn's own timer as it begins."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self._stop(self._begins)
            self._begins = None
        elif self._begins is None and not self.transport.is_closing():
            # Also the rest of a body that nobody waited for is no request.
            self._begins = self.loop.call_later(BEGINS_WITHIN, self.transport.abort)

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._watch()

    def _watch(self) -> None:
        self._stalls = self.loop.call_later(STALLS_AT_MOST, self._unless_read, self.transport.get_write_buffer_size())

    def _unless_read(self, unread: int) -> None:
        # A large answer is written at once, and what a slow client reads of it in time is less than the whole.
        if self.transport.get_write_buffer_size() < unread:
            self._watch()
        else:
            self.transport.abort()

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        super().resume_writing()
        self._stop(self._stalls)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        self._stop(self._begins)
        self._stop(self._stalls)

    @staticmethod
    def _stop(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()
