"""The idempotency keys that requests to a service were sent under, each with a digest of its request, for a day."""

from redis.asyncio import Redis

from perdure.identity import digest
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask

_KEPT = 24 * 3_600
"""Seconds for which it is known what was asked under a key; a choice, longer than a client retries."""


class IdempotencyKeys:
    """They are of callers and not of tenants: digests that a caller's random key goes into, which nobody can guess.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def is_first(self, key: str, whose: str, request: bytes) -> bool | None:
        """Keep what is asked under a key, unless something is kept; None: that is another request.

        Args:
            key: The key.
            whose: Whose key it is: another caller's same key is another one.
            request: What is asked.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        place = keys.requested(digest("requested/1", whose, key)[:32])
        told = digest("request/1", whose, key, request.hex())[:32]
        if await ask(self._redis, "SET", place, told, "NX", "EX", _KEPT):
            return True
        return False if await ask(self._redis, "GET", place) in (told, None) else None
