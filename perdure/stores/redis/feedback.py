"""What people said of tasks after their end, for as long as the tasks are kept. Decides nothing."""

import datetime

from redis.asyncio import Redis

from perdure.errors import TaskConflict
from perdure.plurals import counted
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known
from perdure.tolerance import read_back
from perdure.values.feedback import MOST_LATE, LateFeedback, ordered

_ADD = (
    UNERASED
    + INDEXED
    + """
local ttl = tonumber(ARGV[1])
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSETNX', KEYS[1], ARGV[2], ARGV[3])
redis.call('SADD', KEYS[2], KEYS[1])
for place = 1, 2 do
  redis.call('PEXPIRE', KEYS[place], ttl)
  indexed(KEYS[3], KEYS[place], ttl)
end
return 1
"""
)


class RedisFeedback:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
        ttl: How long it is kept after the task was last renewed, or judged.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta) -> None:
        self._redis = redis
        self._ttl = int(ttl.total_seconds() * 1000)
        self._add = Script(redis, _ADD)

    async def add(self, tenant: str, task_id: str, said: LateFeedback, *, epoch: int | None = None) -> None:
        """Keep what a person said; an id that is known changes nothing.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            said: What was said.
            epoch: The tenant's epoch before it was said; None: not known.

        Raises:
            InvalidTask: This end of the task has been judged too often.
            TenantErased: The user was erased since.
        """
        _, kept = keys.task(tenant, task_id)
        added = await self._add(
            [keys.judged(tenant, task_id, said.first_run), kept, keys.index(tenant), keys.epoch(tenant)],
            self._ttl,
            said.id,
            said.model_dump_json(),
            MOST_LATE,
            known(epoch),
        )
        if not added:
            raise TaskConflict(
                "task", f"has been judged {counted(MOST_LATE, 'time')} since it ended, and takes no more"
            )

    async def of(self, tenant: str, task_id: str, first_run: str) -> list[LateFeedback]:
        """Return what was said of one run of a task since it ended, oldest first."""
        found: list[str] = await ask(self._redis, "HVALS", keys.judged(tenant, task_id, first_run))
        return ordered(read_back(LateFeedback, line) for line in found)
