"""The tokens of an installation, by their ids, without their secrets."""

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask
from perdure.tolerance import read_back
from perdure.values.access_tokens import AccessToken

# Each token and its place in the list of its user change at once: an erasure in between would leave one unlisted.
_ADD = """
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if KEYS[2] then redis.call('SADD', KEYS[2], ARGV[1]) end
"""
_REMOVE = """
redis.call('HDEL', KEYS[1], ARGV[1])
if KEYS[2] then redis.call('SREM', KEYS[2], ARGV[1]) end
"""
_REMOVE_OF = """
for _, id in ipairs(redis.call('SMEMBERS', KEYS[2])) do redis.call('HDEL', KEYS[1], id) end
redis.call('DEL', KEYS[2])
"""


class AccessTokens:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._add = Script(redis, _ADD)
        self._remove = Script(redis, _REMOVE)
        self._remove_of = Script(redis, _REMOVE_OF)

    async def add(self, token: AccessToken) -> None:
        """Keep a token."""
        await self._add(_places(token), token.id, token.model_dump_json())

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
        await self._remove_of([keys.ACCESS_TOKENS, keys.access_tokens_of(user_id)])

    async def remove(self, token: AccessToken) -> None:
        """Remove a token: from now on it counts nowhere."""
        await self._remove(_places(token), token.id)


def _places(token: AccessToken) -> list[str]:
    return [keys.ACCESS_TOKENS, *([] if token.user_id is None else [keys.access_tokens_of(token.user_id)])]
