"""The tokens of an installation, by their ids, without their secrets."""

from redis.asyncio import Redis

from perdure.access import AccessToken
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.tolerance import read_back


class AccessTokens:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def add(self, token: AccessToken) -> None:
        """Keep a token."""
        if token.user_id is not None:
            # Listed first: of a user, there is never a token that an erasure does not find.
            await ask(self._redis, "SADD", keys.access_tokens_of(token.user_id), token.id)
        await ask(self._redis, "HSET", keys.ACCESS_TOKENS, token.id, token.model_dump_json())

    async def one(self, identifier: str) -> AccessToken | None:
        """Return a token; None: there is none with this id."""
        found = await ask(self._redis, "HGET", keys.ACCESS_TOKENS, identifier)
        return read_back(AccessToken, found) if found else None

    async def all(self) -> list[AccessToken]:
        """Return all tokens, the oldest first."""
        found: dict[str, str] = await ask(self._redis, "HGETALL", keys.ACCESS_TOKENS)
        return sorted(
            (read_back(AccessToken, line) for line in found.values()), key=lambda one: (one.created_at, one.id)
        )

    async def remove_of(self, user_id: str) -> None:
        """Remove the tokens that are bound to a user."""
        place = keys.access_tokens_of(user_id)
        if identifiers := await ask(self._redis, "SMEMBERS", place):
            await ask(self._redis, "HDEL", keys.ACCESS_TOKENS, *identifiers)
            await ask(self._redis, "SREM", place, *identifiers)

    async def remove(self, token: AccessToken) -> None:
        """Remove a token: from now on it counts nowhere."""
        await ask(self._redis, "HDEL", keys.ACCESS_TOKENS, token.id)
        if token.user_id is not None:
            await ask(self._redis, "SREM", keys.access_tokens_of(token.user_id), token.id)
