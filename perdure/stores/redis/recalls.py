"""Which memories a task has recalled, and which of them are credited with how it ended. Credits nothing itself."""

import datetime
from collections.abc import Sequence

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known

# Listed among what lives as long as the task, so that a task of months still knows what it recalled first.
_NOTE = (
    UNERASED
    + INDEXED
    + """
local ttl = tonumber(ARGV[1])
for place = 2, #ARGV - 1 do redis.call('SADD', KEYS[1], ARGV[place]) end
redis.call('SADD', KEYS[2], KEYS[1])
for place = 1, 2 do
  redis.call('PEXPIRE', KEYS[place], ttl)
  indexed(KEYS[3], KEYS[place], ttl)
end
"""
)

# A user who was erased meanwhile has nothing left to be moved.
_MOVE = (
    INDEXED
    + """
local moved = 0
for place = 2, #ARGV do moved = moved + redis.call('SMOVE', KEYS[1], KEYS[2], ARGV[place]) end
if moved > 0 then
  redis.call('SADD', KEYS[3], KEYS[2])
  for place = 2, 3 do
    redis.call('PEXPIRE', KEYS[place], ARGV[1])
    indexed(KEYS[4], KEYS[place], tonumber(ARGV[1]))
  end
end
return moved
"""
)


class TaskRecalls:
    """The memories that each task has recalled, as a set: recalling one again changes nothing.

    Args:
        redis: A client made with ``connect``.
        ttl: How long they are kept after the task was last renewed.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta) -> None:
        self._redis = redis
        self._ttl = int(ttl.total_seconds() * 1000)
        self._note = Script(redis, _NOTE)
        self._move = Script(redis, _MOVE)

    async def add(
        self, tenant: str, task_id: str, ids: Sequence[str], *, of: str | None = None, epoch: int | None = None
    ) -> None:
        """Add memories that a task has recalled.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            ids: The memories.
            of: The team or agent whose they are; None: the user's own.
            epoch: The tenant's epoch that the task was prepared under; None: not known.

        Raises:
            StoreUnavailable: Redis does not answer.
            TenantErased: The user was erased since.
        """
        if ids:
            _, kept = keys.task(tenant, task_id)
            await self._note(
                [keys.recalled(tenant, task_id), kept, keys.index(tenant), keys.epoch(tenant)],
                self._ttl,
                *(f"{of or ''} {one}" for one in ids),
                known(epoch),
            )

    async def of(self, tenant: str, task_id: str, *, credited: bool = False) -> dict[str | None, list[str]]:
        """Return the memories that a task has recalled, by whose they are.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            credited: Whether to return those too that are credited already.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        lines = {*await ask(self._redis, "SMEMBERS", keys.recalled(tenant, task_id))}
        if credited:
            lines |= {*await ask(self._redis, "SMEMBERS", keys.credited(tenant, task_id))}
        found: dict[str | None, list[str]] = {}
        for line in sorted(lines):
            of, _, identifier = line.partition(" ")
            found.setdefault(of or None, []).append(identifier)
        return found

    async def credited(self, tenant: str, task_id: str, ids: Sequence[str], *, of: str | None) -> None:
        """Note that memories are credited: a person's later word on the task is credited to them too.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        _, kept = keys.task(tenant, task_id)
        places = [keys.recalled(tenant, task_id), keys.credited(tenant, task_id), kept, keys.index(tenant)]
        await self._move(places, self._ttl, *(f"{of or ''} {one}" for one in ids))
