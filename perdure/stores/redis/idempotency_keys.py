"""The idempotency keys that requests to a service were sent under, each with a digest of its request, for a day.

What was carried out is noted afterwards: where the service died in between, sending the request again carries it out.
"""

from redis.asyncio import Redis

from perdure.identity import digest
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask

_KEPT = 24 * 3_600
"""Seconds for which it is known what was asked under a key; a choice, longer than a client retries."""

_DONE = "done"


class IdempotencyKeys:
    """Keys that belong to callers, and not to tenants: digests of what includes a random key, which nobody can guess.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def is_done(self, key: str, whose: str, request: bytes) -> bool | None:
        """Keep what is asked under a key, unless something is kept.

        Args:
            key: The key.
            whose: Whose key it is: another caller's same key is another one.
            request: What is asked.

        Returns:
            Whether it was carried out already. None: another request was sent under the key.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        place, told = _of(key, whose, request)
        # Where it was kept by this very command, which a broken connection had sent twice, it is not done either.
        if await ask(self._redis, "SET", place, told, "NX", "EX", _KEPT):
            return False
        return {None: False, told: False, told + _DONE: True}.get(await ask(self._redis, "GET", place))

    async def done(self, key: str, whose: str, request: bytes) -> None:
        """Note that a request was carried out.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        place, told = _of(key, whose, request)
        await ask(self._redis, "SET", place, told + _DONE, "EX", _KEPT)


def _of(key: str, whose: str, request: bytes) -> tuple[str, str]:
    """Return where it is kept what was asked under a key, and what is kept of it."""
    place = keys.requested(digest("requested/1", whose, key)[:32])
    return place, digest("request/1", whose, key, request.hex())[:32]
