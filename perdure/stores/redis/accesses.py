"""Uses that are not yet written to long-term memory: how often, and when last. Writes no memory itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known
from perdure.values.entries import Use

_KEPT = timedelta(days=7)
"""How long uses wait to be written if the schedule is paused; then they are lost, but nothing else is."""

_AT = "@"
"""What stands before an id in the field that says when it was last used."""

_NOTE = (
    UNERASED
    + INDEXED
    + """
for place = 3, #ARGV - 1 do
  redis.call('HINCRBY', KEYS[1], ARGV[place], 1)
  redis.call('HSET', KEYS[1], '@' .. ARGV[place], ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
indexed(KEYS[2], KEYS[1], tonumber(ARGV[2]))
"""
)

# Uses that were taken but not written, because a worker died, are taken again, under the same operation.
_TAKE = (
    INDEXED
    + """
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
  redis.call('RENAME', KEYS[1], KEYS[2])
  redis.call('HSET', KEYS[2], '', ARGV[1])
  indexed(KEYS[3], KEYS[2], tonumber(redis.call('PTTL', KEYS[2])))
end
local found = {}
for place, text in ipairs(redis.call('HGETALL', KEYS[2])) do found[place] = text end
return found
"""
)

# What was recalled meanwhile has made it wait from then on.
_POSTPONE = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
"""

# Another pass may have written them meanwhile, and taken others.
_DROP = """
if redis.call('HGET', KEYS[1], '') == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""

_DONE = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end
"""


class TakenAccesses(NamedTuple):
    """The uses of one tenant that are to be written."""

    operation: str
    """The operation that writes them: the same one for all attempts."""
    uses: dict[str, Use]


class Accesses:
    """The uses of every tenant's memories.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._note = Script(redis, _NOTE)
        self._take = Script(redis, _TAKE)
        self._postpone = Script(redis, _POSTPONE)
        self._drop = Script(redis, _DROP)
        self._done = Script(redis, _DONE)

    async def epoch(self, tenant: str) -> int:
        """Return a tenant's epoch, for a recall that begins now.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return int(await ask(self._redis, "GET", keys.epoch(tenant)) or 0)

    async def add(self, tenant: str, ids: Sequence[str], at: datetime, *, epoch: int | None = None) -> None:
        """Note that these were recalled.

        Args:
            tenant: Whose.
            ids: The entries.
            at: When.
            epoch: The tenant's epoch before they were looked for; None: not known.

        Raises:
            TenantErased: The tenant was erased since.
            StoreUnavailable: Redis does not answer.
        """
        if ids:
            moment = int(at.timestamp() * 1000)
            waiting, _ = keys.accesses(tenant)
            places = [waiting, keys.index(tenant), keys.epoch(tenant)]
            await self._note(places, moment, int(_KEPT.total_seconds() * 1000), *ids, known(epoch))
            await ask(self._redis, "ZADD", keys.ACCESSED, moment, tenant)

    async def tenants(self, limit: int) -> list[tuple[str, str]]:
        """Return tenants of which uses wait, each with a token for ``written``; those that wait longest first.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        found = await ask(self._redis, "ZRANGE", keys.ACCESSED, 0, limit - 1, "WITHSCORES")
        return [(tenant, f"{score:.0f}") for tenant, score in found]

    async def take(self, tenant: str, operation: str) -> TakenAccesses:
        """Return the uses that are to be written, under the operation of the first attempt at them.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        answer: list[str] = await self._take([*keys.accesses(tenant), keys.index(tenant)], operation)
        fields = dict(zip(answer[::2], answer[1::2], strict=True))
        operation = fields.pop("", operation)
        uses = {
            identifier: Use(int(number), int(fields[_AT + identifier]))
            for identifier, number in fields.items()
            if not identifier.startswith(_AT)
        }
        return TakenAccesses(operation, uses)

    async def postpone(self, tenant: str, token: str, at: datetime) -> None:
        """Let a tenant whose uses could not be written wait as if it were listed at this moment: others come first.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        await self._postpone([keys.ACCESSED], tenant, token, int(at.timestamp() * 1000))

    async def written(self, tenant: str, token: str, operation: str) -> None:
        """Drop the uses that an operation has written; the tenant too, if none was noted since it was listed.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        waiting, taken = keys.accesses(tenant)
        await self._drop([taken], operation)
        # What was noted after an attempt that died is still to be taken.
        if not await ask(self._redis, "EXISTS", waiting):
            await self._done([keys.ACCESSED], tenant, token)
