"""The erasures that Redis knows of, and the epochs that writers compare under their leases."""

from datetime import datetime

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask
from perdure.tolerance import read_back
from perdure.values.erasures import Erasure, require_none_since

_RAISE = """
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
end
return 1
"""


class RedisErasures:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._raise = Script(redis, _RAISE)

    async def all(self) -> dict[str, Erasure]:
        """Return the latest erasure of each user."""
        found: dict[str, str] = await ask(self._redis, "HGETALL", keys.ERASURES)
        return {tenant: read_back(Erasure, line) for tenant, line in found.items()}

    async def of(self, tenant: str) -> Erasure | None:
        """Return a user's latest erasure."""
        line = await ask(self._redis, "HGET", keys.ERASURES, tenant)
        return read_back(Erasure, line) if line else None

    async def require_none_since(self, tenant: str, asked_at: datetime) -> None:
        """Check that a user was not erased after something was asked.

        Raises:
            TenantErased: They were.
        """
        require_none_since(asked_at, [await self.of(tenant)])

    async def epoch_since(self, tenant: str, asked_at: datetime) -> int:
        """Return a user's epoch, under which to write what was asked at a moment.

        It is read before the look for an erasure: one that comes in between is seen by one of the two.

        Raises:
            TenantErased: They were erased after that moment.
        """
        epoch = await ask(self._redis, "GET", keys.epoch(tenant))
        await self.require_none_since(tenant, asked_at)
        return int(epoch or 0)

    async def add(self, erasure: Erasure) -> None:
        """Keep an erasure; from then on no change that was accepted before it is written."""
        await self._raise([keys.epoch(erasure.tenant)], erasure.epoch)
        if erasure.follows(await self.of(erasure.tenant)):
            await ask(self._redis, "HSET", keys.ERASURES, erasure.tenant, erasure.model_dump_json())

    async def advance(self, tenant: str) -> int:
        """Raise a user's epoch once more, and return it: what was read under the erasure's own is written no more."""
        return int(await ask(self._redis, "INCR", keys.epoch(tenant)))

    async def end(self, tenant: str) -> None:
        """Forget who wrote last, which an erasure needs until it is proved."""
        await ask(self._redis, "DEL", keys.writer(tenant))
