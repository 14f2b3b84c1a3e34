"""What every handler has of its request: who asks, the gateway, whose memory is meant."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote, urlencode
from uuid import uuid4

from fastapi import Depends, Header, Query, Request

from perdure.errors import StillRunning, StoreUnavailable
from perdure.identity import digest
from perdure.values.access_tokens import Caller
from worker.gateway import Gateway

if TYPE_CHECKING:
    from perdure.stores.redis.idempotency_keys import Sending

T = TypeVar("T")


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


Asker = Annotated[Caller, Depends(_caller)]
"""Whom the token stands for."""

Here = Annotated[Gateway, Depends(_gateway)]
"""The gateway."""

UserParam = Annotated[
    str | None,
    Query(
        description="The user for whom is asked. With a token of one user, leave it out: others do not exist.",
        max_length=500,
    ),
]

OfParam = Annotated[
    str | None,
    Query(description="Whose memory: `team:NAME` or `agent:NAME` that the user belongs to.", max_length=100),
]

KeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Your own key for this request: sent again, it has no second effect; another is refused.",
        min_length=1,
        max_length=300,
    ),
]


class Once:
    """A request that may be sent again.

    Args:
        request: The request.
        caller: Who asks.
        here: The gateway.
        key: Its idempotency key; None: it has none, and each sending is a request of its own.
    """

    def __init__(self, request: Request, caller: Asker, here: Here, key: KeyHeader = None) -> None:
        self._request = request
        self._caller = caller
        self._here = here
        self.key = key
        self.is_repeated = False
        """Whether the same request was carried out under the key before; known once it was identified."""
        self.first_at: datetime | None = None
        """When a request that is sent again was sent first; known once it was identified."""
        self._sent: tuple[str, bytes, Sending] | None = None

    async def identify(self, user_id: str) -> str:
        """Return an id for what is asked: the same for the same request under the same key, while the key is known.

        What the request starts takes it as its own id, so that a repetition meets the first sending.

        Raises:
            KeyReused: The key was sent with another request.
        """
        if self.key is None:
            return uuid4().hex
        url, body = self._request.url, getattr(self._request.state, "body", b"")
        # The same fields in another order, or with other spaces, ask for the same.
        same = json.dumps(json.loads(body), sort_keys=True) if body else ""
        asked = "\n".join([self._request.method, url.path, url.query, same]).encode()
        whose = digest("whose/1", self._caller.user_id or "", self._caller.actor.id, user_id)
        sending = await self._here.require_same_request(self.key, whose, asked, by=self._caller.actor)
        self._sent = whose, asked, sending
        self.is_repeated = sending.is_done
        self.first_at = None if sending.is_first else sending.first_at
        return sending.id

    async def carry_out(self, act: Callable[[], Awaitable[object]]) -> None:
        """Do what is asked, unless the same request was carried out under the key before: it may be refused by now."""
        if not self.is_repeated:
            await act()
            await self.carried_out()

    async def carried_out(self) -> None:
        """Note that the request was carried out, as far as possible; sent again, it is otherwise carried out again."""
        if self.key is not None and self._sent is not None and not self.is_repeated:
            with suppress(StoreUnavailable):
                await self._here.carried_out(self.key, *self._sent, by=self._caller.actor)


OnceOnly = Annotated[Once, Depends()]
"""The request's idempotency key, and the id that it stands for."""


def found_at(path: str, caller: Caller, user: str, of: str | None = None) -> dict[str, str]:
    """Return the header that says where something of a user is asked for, as the caller has to ask.

    Args:
        path: Its path.
        caller: Who will ask. A token of one user need not name the user; one for all users has to.
        user: Whose it is.
        of: The team or agent whose memory it is for; None: the user's own.
    """
    named = {"user_id": "" if caller.user_id else user, "of": of or ""}
    query = urlencode({name: value for name, value in named.items() if value}, safe=":", quote_via=quote)
    return {"Location": f"{path}?{query}" if query else path}


async def within(seconds: float, work: Coroutine[Any, Any, T], afterwards: str) -> T:
    """Return what a change comes to that waits for workers, unless that takes too long for a request.

    Args:
        seconds: How long it may take.
        work: The change.
        afterwards: What the client may do then; the change goes on.

    Raises:
        StillRunning: It took longer.
    """
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        raise StillRunning(f"it has not ended after {seconds:.0f} s: {afterwards}") from None
