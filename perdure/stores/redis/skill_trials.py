"""How tasks with each version of a skill have ended: digests and counts, in a tenant of the installation's own."""

from collections.abc import Sequence

from redis.asyncio import Redis

from perdure.identity import digest
from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask
from perdure.values.trials import Trials

MOST = 500
"""Tasks that are counted for each version, the newest: a choice, as older ones say less and less about the next."""

_LASTS = 366 * 86_400
"""Seconds that a version is known after its last task: a choice."""

_RECORD = """
local t = redis.call('TIME')
redis.call('ZADD', KEYS[1], t[1], ARGV[1])
redis.call(ARGV[2] == '1' and 'SADD' or 'SREM', KEYS[2], ARGV[1])
for _, old in ipairs(redis.call('ZRANGE', KEYS[1], 0, -(tonumber(ARGV[3]) + 1))) do
  redis.call('ZREM', KEYS[1], old)
  redis.call('SREM', KEYS[2], old)
end
for place = 1, 2 do redis.call('EXPIRE', KEYS[place], ARGV[4]) end
return redis.status_reply('OK')
"""


class SkillTrials:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._record = Script(redis, _RECORD)

    async def record(self, version: str, tenant: str, task_id: str, *, succeeded: bool) -> None:
        """Count how a task has ended; one that is run again counts once, with its last end.

        Args:
            version: The skill's, as a task is pinned to it.
            tenant: Whose task it was.
            task_id: The task.
            succeeded: Whether it did what the skill promises.
        """
        one = digest("trial/1", tenant, task_id)[:24]
        await self._record([*keys.trials(version)], one, int(succeeded), MOST, _LASTS)

    async def of(self, versions: Sequence[str]) -> dict[str, Trials]:
        """Return how the tasks with these versions have ended."""
        found: dict[str, Trials] = {}
        for version in versions:
            tasks, successes = keys.trials(version)
            counts = await ask(self._redis, "ZCARD", tasks), await ask(self._redis, "SCARD", successes)
            found[version] = Trials(tasks=int(counts[0]), successes=int(counts[1]))
        return found
