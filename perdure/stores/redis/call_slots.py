"""Slots that calls of a tool take, so that no more are made than a limit allows. Waits for none itself."""

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known

# A place has an end of its own: who is killed gives it back then. Measured by the clock of Redis.
_TAKE = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local ttl = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] - now
end
redis.call('ZADD', KEYS[1], now + ttl, ARGV[1])
if redis.call('PTTL', KEYS[1]) < ttl then redis.call('PEXPIRE', KEYS[1], ttl) end
"""
_TAKE_OF_ALL = _TAKE + "return 0"
_TAKE_OF_USER = UNERASED + INDEXED + _TAKE + "indexed(KEYS[2], KEYS[1], ttl)\nreturn 0"


class CallSlots:
    """The places of each tool's limits: sorted sets of calls, by when their places end.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._of_all = Script(redis, _TAKE_OF_ALL)
        self._of_user = Script(redis, _TAKE_OF_USER)

    async def take(
        self, limit: str, call: str, most: int, seconds: float, *, tenant: str = "", epoch: int | None = None
    ) -> float:
        """Take a place, unless all are taken; a call that has one keeps it.

        Args:
            limit: The tool and the kind of limit.
            call: The attempt that calls.
            most: How many places there are.
            seconds: When the place ends, if it is not given back.
            tenant: The user whose limit it is; empty: that of all users.
            epoch: The tenant's epoch that the task was prepared under; None: not known.

        Returns:
            0 where it has one; otherwise the seconds until the first place ends.

        Raises:
            StoreUnavailable: Redis does not answer.
            TenantErased: The user was erased since.
        """
        arguments = (call, most, int(seconds * 1000))
        if not tenant:
            left = await self._of_all([keys.places("", limit)], *arguments)
        else:
            of_user = [keys.places(tenant, limit), keys.index(tenant), keys.epoch(tenant)]
            left = await self._of_user(of_user, *arguments, known(epoch))
        return float(left) / 1000

    async def release(self, limit: str, call: str, *, tenant: str = "") -> None:
        """Release the place of a call, if it has one.

        Raises:
            StoreUnavailable: Redis does not answer: it ends by itself.
        """
        await ask(self._redis, "ZREM", keys.places(tenant, limit), call)
