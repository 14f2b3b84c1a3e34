"""Which tenants' indexes are to be compared, and which entries are being written anew. Compares and writes nothing."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask
from perdure.stores.redis.leases import Lease

QUIET = timedelta(minutes=10)
"""How long after a write its tenant is checked: by then its job has confirmed it, and Weaviate has flushed it. A tenant
that is written all the time is checked this often, and once more this long after its last write."""

_QUIET_SECONDS = int(QUIET.total_seconds())

CLAIMED = timedelta(minutes=30)
"""How long a tenant stays with the worker that checks it; longer than ``QUIET``, so that a write meanwhile is noted."""

# The worker that died while it checked gives the tenant back by not finishing.
_CLAIM = """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)
if due[1] then redis.call('ZADD', KEYS[1], ARGV[2], due[1]) end
return due[1]
"""
# What was written meanwhile has lowered the score, and is checked again. So is what was written shortly before: the
# index had it, and loses it if the store is killed before it has flushed it (some 10 of 1,500 writes in nine minutes).
_DONE = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return end
local last = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or '0')
if last > ARGV[3] - ARGV[4] then
  redis.call('ZADD', KEYS[1], last + ARGV[4], ARGV[1])
else
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
"""

_WRITTEN = """
redis.call('ZADD', KEYS[1], 'LT', ARGV[2] + ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[2], 'GT', ARGV[2], ARGV[1])
"""

# Those that are claimed are due again too: what was looked at before the store stopped may be gone.
_HASTEN = """
for _, tenant in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 'LT', ARGV[1], tenant) end
"""


class Checks:
    """The tenants that were written since their last check, and each tenant's unfinished rewrites."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._claim = Script(redis, _CLAIM)
        self._done = Script(redis, _DONE)
        self._written = Script(redis, _WRITTEN)
        self._hasten = Script(redis, _HASTEN)

    async def add(self, tenant: str, due: datetime) -> None:
        """Make a tenant due for a check at this moment, unless it is due earlier."""
        await ask(self._redis, "ZADD", keys.CHECKS, "LT", _score(due), tenant)

    async def written(self, tenant: str, at: datetime) -> None:
        """Make a tenant that is written at this moment due for a check once Weaviate has flushed it."""
        await self._written([keys.CHECKS, keys.WRITTEN], tenant, _score(at), _QUIET_SECONDS)

    async def claim(self, now: datetime) -> str | None:
        """Return a tenant that is to be checked, which no other worker gets meanwhile."""
        return await self._claim([keys.CHECKS], _score(now), _score(now + CLAIMED))

    async def done(self, tenant: str, claimed: datetime) -> None:
        """Remove a tenant from the list, unless its last write may not have been flushed when it was claimed."""
        scores = (str(_score(claimed + CLAIMED)), _score(claimed), _QUIET_SECONDS)
        await self._done([keys.CHECKS, keys.WRITTEN], tenant, *scores)

    async def hasten(self, now: datetime) -> None:
        """Make every tenant that was written since its last check due now."""
        await self._hasten([keys.CHECKS], _score(now))

    async def pending(self, now: datetime) -> int:
        """Return how many tenants are due to be checked, or are being checked."""
        due = await ask(self._redis, "ZCOUNT", keys.CHECKS, "-inf", _score(now))
        claimed = await ask(self._redis, "ZCOUNT", keys.CHECKS, f"({_score(now + QUIET)}", "+inf")
        return due + claimed

    async def begin_rewrite(self, tenant: str, ids: Sequence[str], lease: Lease) -> None:
        """Record that these entries are about to be deleted and written anew, while the tenant's lease is held.

        Raises:
            LeaseLost: It has run out.
        """
        await lease.write("SADD", keys.rewrites(tenant), *ids)

    async def unfinished(self, tenant: str) -> list[str]:
        """Return the entries that a rewrite may have deleted and not yet written."""
        return sorted(await ask(self._redis, "SMEMBERS", keys.rewrites(tenant)))

    async def end_rewrite(self, tenant: str, ids: Sequence[str]) -> None:
        """Record that these entries are stored again."""
        await ask(self._redis, "SREM", keys.rewrites(tenant), *ids)


def _score(moment: datetime) -> int:
    return int(moment.timestamp())
