"""The tenants that Weaviate has open, as known to all processes of the installation. Opens and closes none."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask

IN_USE = timedelta(seconds=1)
"""For how long after its last note a tenant is taken to be at work. Those that come in this time are beyond the bound:
some 150 on 2 cores. With 5 s, 5,000 users in a row took 13,113 files, some 860 users, where 393 were meant."""

_USED = """
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
local over = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[3])
if over <= 0 then return {} end
local idle = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[4], 'LIMIT', 0, over + tonumber(ARGV[5]))
if #idle > 0 then redis.call('ZREMRANGEBYRANK', KEYS[1], 0, #idle - 1) end
return idle
"""


class ActiveTenants:
    """The active tenants, by when each was last used."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._used = Script(redis, _USED)

    async def used(self, tenant: str, now: datetime, *, most: int) -> list[str]:
        """Record that a tenant is used now, and return those to be made inactive, which no other process gets.

        Args:
            tenant: Which.
            now: The moment.
            most: How many may be active; a tenth more are returned, so that the next call need not.
        """
        idle = (now - IN_USE).timestamp()
        return await self._used([keys.ACTIVE], now.timestamp(), tenant, most, idle, most // 10)

    async def found(self, tenants: Sequence[str]) -> None:
        """Record tenants that Weaviate has active, and that may be missing here, as used long ago."""
        for start in range(0, len(tenants), 1_000):
            pairs = (part for tenant in tenants[start : start + 1_000] for part in (0, tenant))
            await ask(self._redis, "ZADD", keys.ACTIVE, "NX", *pairs)
