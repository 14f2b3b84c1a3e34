"""Which tenants have something to forget, and when: an index, so that a sweep costs what is due."""

from datetime import UTC, datetime

from redis.asyncio import Redis

from perdure.stores.redis.connection import Script, ask
from perdure.stores.redis.keys import DUE, DUE_MOMENTS, RULES, due_listed

_LISTED_FOR = 3_600
"""Seconds for which a list of due tenants is kept after its last page; a sweep that takes longer for a page makes it
anew. A choice."""

# Each sweep has a list of its own, as another that goes on beside it looks at another moment. It is made once, in the
# order of the ids, as its members all have the same score. Who is no longer due is passed over, and so an erased tenant
# as well; there is no page without anybody before the last.
_PAGE = """
local now, after, limit = ARGV[1], ARGV[2], ARGV[3]
if after == '' or redis.call('EXISTS', KEYS[2]) == 0 then
  for _, moment in ipairs(redis.call('SMEMBERS', KEYS[3])) do
    if redis.call('EXISTS', ARGV[5] .. moment) == 0 then redis.call('SREM', KEYS[3], moment) end
  end
  redis.call('ZRANGESTORE', KEYS[2], KEYS[1], '-inf', now, 'BYSCORE')
  redis.call('ZUNIONSTORE', KEYS[2], 1, KEYS[2], 'WEIGHTS', 0)
  redis.call('SADD', KEYS[3], now)
end
redis.call('EXPIRE', KEYS[2], ARGV[4])
local place = after == '' and '-' or '(' .. after
while true do
  local page, due = redis.call('ZRANGE', KEYS[2], place, '+', 'BYLEX', 'LIMIT', 0, limit), {}
  for _, tenant in ipairs(page) do
    local moment = redis.call('ZSCORE', KEYS[1], tenant)
    if moment and tonumber(moment) <= tonumber(now) then due[#due + 1] = tenant end
  end
  if #page == 0 or #due > 0 then return due end
  place = '(' .. page[#page]
end
"""


class DueIndex:
    """Each tenant's next due date, in one sorted set."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._page = Script(redis, _PAGE)

    async def lower(self, tenant: str, moment: datetime) -> None:
        """Record that something of a tenant is due at this moment, unless something is due earlier."""
        await ask(self._redis, "ZADD", DUE, "LT", moment.timestamp(), tenant)

    async def set(self, tenant: str, moment: datetime | None) -> None:
        """Record a tenant's next due date exactly; None: nothing is due as things stand.

        Call it under the tenant's lease, so that no write in between is overlooked.
        """
        if moment is None:
            await ask(self._redis, "ZREM", DUE, tenant)
        else:
            await ask(self._redis, "ZADD", DUE, moment.timestamp(), tenant)

    async def tenants(self, *, now: datetime, after: str, limit: int) -> list[str]:
        """Return the tenants with something due, in order of their ids; a page costs no more the more are due.

        Those that become due after the first page was read are left to the next sweep.

        Args:
            now: Up to which moment.
            after: The last tenant that was handled; the sweep's cursor.
            limit: How many at most.
        """
        moment = repr(now.timestamp())
        listed = [DUE, due_listed(moment), DUE_MOMENTS]
        found: list[str] = await self._page(listed, moment, after, limit, _LISTED_FOR, due_listed(""))
        return found

    async def next(self, tenant: str) -> datetime | None:
        """Return a tenant's next due date."""
        score = await ask(self._redis, "ZSCORE", DUE, tenant)
        return None if score is None else datetime.fromtimestamp(float(score), UTC)

    async def rules(self) -> str:
        """Return the version of the rules that everybody's entries were last dated by; empty: it is not known."""
        return await ask(self._redis, "GET", RULES) or ""

    async def dated_by(self, rules_version: str) -> None:
        """Record that everybody's entries are dated by these rules."""
        await ask(self._redis, "SET", RULES, rules_version)
