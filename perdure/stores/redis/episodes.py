"""A session's episodes: appended once, bounded, expiring. Never ranks beyond time and importance."""

from datetime import timedelta
from typing import cast

from redis.asyncio import Redis

from perdure.episodes import Episode
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, Script, ask

EPISODES_KEPT = 1_000
"""How many episodes a session keeps; the oldest go first."""

LIFETIME = timedelta(hours=24)
"""How long a session's episodes outlive its last one."""

# One script, because the steps branch: a duplicate must neither move nor refresh anything. Scores are event
# times, so what comes late and is older than all that is kept evicts itself again.
_APPEND = (
    INDEXED
    + """
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then
  return 0
end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
local excess = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[5])
if excess > 0 then
  for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, excess - 1)) do
    redis.call('HDEL', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
    redis.call('ZREM', KEYS[3], id)
  end
end
for place = 1, 3 do
  redis.call('PEXPIRE', KEYS[place], ARGV[6])
  indexed(KEYS[4], KEYS[place], tonumber(ARGV[6]))
end
return redis.call('HEXISTS', KEYS[1], ARGV[1])
"""
)

_NEWEST = """
local ids = redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1, 'REV')
if #ids == 0 then
  return {}
end
return redis.call('HMGET', KEYS[1], unpack(ids))
"""


class Episodes:
    """The episodes of every session.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._append = Script(redis, _APPEND)
        self._newest = Script(redis, _NEWEST)

    async def append(self, tenant: str, session: str, episode: Episode) -> bool:
        """Keep an episode; the same id again changes nothing.

        Returns:
            Whether it was new, and is kept: False for a duplicate, and for what is older than all that is kept.

        Raises:
            StoreUnavailable: When Redis does not answer, or refuses.
        """
        answer = await self._append(
            [*keys.episodes(tenant, session), keys.index(tenant)],
            episode.id,
            episode.model_dump_json(),
            int(episode.at.timestamp() * 1000),
            _rank(episode),
            EPISODES_KEPT,
            int(LIFETIME.total_seconds() * 1000),
        )
        return bool(answer)

    async def get(self, tenant: str, session: str, identifier: str) -> Episode | None:
        """Return an episode by its id.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        content, _, _ = keys.episodes(tenant, session)
        line = await ask(self._redis, "HGET", content, identifier)
        return Episode.model_validate_json(line) if line else None

    async def recent(self, tenant: str, session: str, limit: int) -> list[Episode]:
        """Return the newest episodes, newest first.

        Raises:
            StoreUnavailable: When Redis does not answer.
        """
        content, by_time, _ = keys.episodes(tenant, session)
        return await self._read([content, by_time], limit)

    async def important(self, tenant: str, session: str, limit: int) -> list[Episode]:
        """Return the most important episodes, most important first; of equally important ones the newest.

        Raises:
            StoreUnavailable: When Redis does not answer.
        """
        content, _, by_importance = keys.episodes(tenant, session)
        return await self._read([content, by_importance], limit)

    async def _read(self, places: list[str], limit: int) -> list[Episode]:
        if limit < 1:
            return []
        lines = cast("list[str | None]", await self._newest(places, limit))
        return [Episode.model_validate_json(line) for line in lines if line]


def _rank(episode: Episode) -> int:
    """Return importance in thousandths, then time: exact in a score's 53 bits, for 139 years from 1970."""
    return (round(episode.importance * 1000) << 42) + int(episode.at.timestamp() * 1000)
