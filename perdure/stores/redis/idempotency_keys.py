"""The idempotency keys that requests to a service were sent under, each with a digest of its request, for a day.

With each is the moment of its first sending, and so an id, which what the request starts has as its own: sent again,
the request meets what the first sending started, also where the service died before it could note that the request was
carried out, and on the same day where Redis has lost the key.
"""

import time
from datetime import UTC, datetime
from typing import NamedTuple

from redis.asyncio import Redis

from perdure.identity import digest
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask

_KEPT = 24 * 3_600
"""Seconds for which it is known what was asked under a key; a choice, longer than a client retries."""

_DONE = "done"


class Sending(NamedTuple):
    """What is known of a request that was sent under a key."""

    id: str
    """The same with each sending, as long as the key is known; of the same request a day later, another one."""
    first_at: datetime
    """When the request was sent first."""
    is_first: bool
    """Whether this is its first sending, as far as is known."""
    is_done: bool
    """Whether the request was carried out already."""


class IdempotencyKeys:
    """Keys that belong to callers, and not to tenants: digests of what includes a random key, which nobody can guess.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def sent(self, key: str, whose: str, request: bytes) -> Sending | None:
        """Keep what is asked under a key, unless something is kept, and return what is known of it.

        Args:
            key: The key.
            whose: Whose key it is: another caller's same key is another one.
            request: What is asked.

        Returns:
            None: another request was sent under the key.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        place, told = _of(key, whose, request)
        own, kept, is_first = f"{told} {time.time_ns() // 1_000_000}", None, None
        while kept is None:
            # Where it was kept by this very command, which a broken connection had sent twice, it is found as it is.
            is_first = await ask(self._redis, "SET", place, own, "NX", "EX", _KEPT)
            # Its day may be over in between.
            kept = own if is_first else await ask(self._redis, "GET", place)
        asked, _, since = kept.partition(" ")
        if asked != told:
            return None
        moment, *state = since.split()
        first_at = datetime.fromtimestamp(int(moment) / 1_000, UTC)
        identifier = digest("sending/1", told, first_at.date().isoformat())[:32]
        return Sending(identifier, first_at, bool(is_first), _DONE in state)

    async def done(self, key: str, whose: str, request: bytes, sending: Sending) -> None:
        """Note that a request was carried out.

        Args:
            key: The key.
            whose: Whose key it is.
            request: What was asked.
            sending: What is known of it.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        place, told = _of(key, whose, request)
        moment = round(sending.first_at.timestamp() * 1_000)
        await ask(self._redis, "SET", place, f"{told} {moment} {_DONE}", "EX", _KEPT)


def _of(key: str, whose: str, request: bytes) -> tuple[str, str]:
    """Return where it is kept what was asked under a key, and what is kept of it."""
    place = keys.requested(digest("requested/1", whose, key)[:32])
    return place, digest("request/1", whose, key, request.hex())[:32]
