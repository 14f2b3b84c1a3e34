"""How often somebody was seen to do something that is not remembered yet."""

import datetime
from collections.abc import Sequence

from redis.asyncio import Redis

from perdure.identity import digest
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, known

# Two places are all that anybody asks for, and a place that is known already makes nothing last longer.
_SEEN = (
    UNERASED
    + INDEXED
    + """
local ttl = tonumber(ARGV[1])
local count = redis.call('SCARD', KEYS[1])
if count >= 2 then return count end
if redis.call('SADD', KEYS[1], ARGV[2]) == 0 then return count end
redis.call('PEXPIRE', KEYS[1], ttl)
indexed(KEYS[2], KEYS[1], ttl)
return count + 1
"""
)


class Observations:
    """Counts observations of behaviour by place, up to two: a retry is counted once. It holds digests alone.

    Args:
        redis: A client made with ``connect``.
        ttl: How long a behaviour is counted after its first place was observed, and after its second.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta = datetime.timedelta(days=90)) -> None:
        self._ttl = int(ttl.total_seconds() * 1000)
        self._seen = Script(redis, _SEEN)

    async def seen(self, tenant: str, behaviour: Sequence[str], place: str, *, epoch: int | None = None) -> int:
        """Note an observation, and return in how many places the same was observed so far, this one included: 1 or 2.

        Args:
            tenant: Whose behaviour.
            behaviour: What was observed, in words: see ``writing.behaviour``.
            place: Where it was observed.
            epoch: The tenant's epoch when it was accepted; None: not known.

        Raises:
            TenantErased: The tenant was erased since.
            StoreUnavailable: Redis does not answer.
        """
        places = [keys.observed(tenant, digest("behaviour/1", *behaviour)[:24]), keys.index(tenant), keys.epoch(tenant)]
        return int(await self._seen(places, self._ttl, digest("place/1", place)[:24], known(epoch)))
