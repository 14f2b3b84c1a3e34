"""Connections of the service: those that send or read nothing are closed."""

import asyncio
import resource
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

BEGINS_WITHIN = 10.0
"""Seconds within which the head of a request has to be there once a connection is made, or once something came that is
no request yet; a choice. Without a limit, connections that send a byte now and then keep the others out."""

KEPT_IDLE = 75.0
"""Seconds that a connection without a request stays open, as nginx has it: longer than many clients and proxies keep
theirs (httpx 5, aiohttp 15, an AWS load balancer 60). What closes first while the other side sends loses the request,
and whoever sent it cannot know whether it was done."""

KEPT_AMONG_MANY = 5.0
"""The same, where many are open: each is a file, which the next client and the service itself need, too."""

STALLS_AT_MOST = 60.0
"""Seconds that a client may read nothing of an answer; a choice."""

STALLS_AT_THE_END = 2.0
"""The same, once the service ends; a choice."""


class PatientProtocol(H11Protocol):
    """uvicorn's own protocol, with deadlines that it has not, and a longer one for connections that are idle."""

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

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self.timeout_keep_alive = KEPT_IDLE if len(self.connections) <= most_kept() else KEPT_AMONG_MANY
        super().on_response_complete()

    def shutdown(self) -> None:
        """Have what is under way be the last, and wait no longer than a moment for a client that reads nothing."""
        super().shutdown()
        if self._stalls is not None:
            self._stop(self._stalls)
            self._watch(STALLS_AT_THE_END)

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._watch(STALLS_AT_MOST)

    def _watch(self, seconds: float) -> None:
        self._stalls = self.loop.call_later(seconds, self._unless_read, self.transport.get_write_buffer_size())

    def _unless_read(self, unread: int) -> None:
        # A large answer is written at once, and what a slow client reads of it in time is less than the whole.
        if self.transport.get_write_buffer_size() < unread:
            self._watch(STALLS_AT_MOST)
        else:
            self.transport.abort()

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        super().resume_writing()
        self._stop(self._stalls)
        self._stalls = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        # uvicorn's own timer would keep what was asked last, also of a connection that was reset.
        self._unset_keepalive_if_required()
        self._stop(self._begins)
        self._stop(self._stalls)

    @staticmethod
    def _stop(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()


def most_kept() -> int:
    """Return how many connections may be idle for long: a quarter of the files that this process may open."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if files == resource.RLIM_INFINITY else files // 4
