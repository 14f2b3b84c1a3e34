"""A session's episodes: appended once, bounded, expiring. Never ranks beyond time and importance."""

from collections.abc import Collection
from datetime import timedelta
from typing import cast

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known
from perdure.tolerance import read_back
from perdure.values.episodes import EPISODES_KEPT, Episode, due_at

LIFETIME = timedelta(hours=24)
"""How long a session's episodes are read after its last one."""

KEPT_BEYOND = timedelta(days=3)
"""How long they are kept beyond that, so that what is worth keeping is promoted although nobody did for days."""

# One script, because the steps branch: a duplicate must neither move nor refresh anything. Scores are event
# times, so what comes late and is older than all that is kept evicts itself again. What waits to be promoted is
# evicted last: a session of many calls would lose what was said in it.
_APPEND = (
    UNERASED
    + INDEXED
    + """
local beside = redis.call('HGET', KEYS[1], ARGV[9]) or ''
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then
  return {0, redis.call('ZCARD', KEYS[2]), redis.call('ZCARD', KEYS[4]), beside}
end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
if ARGV[7] == '1' then redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1]) end
local function drop(id)
  redis.call('HDEL', KEYS[1], id)
  for place = 2, 4 do redis.call('ZREM', KEYS[place], id) end
end
local excess = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[5])
if excess > 0 then
  local waiting = {}
  for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    if excess == 0 then break end
    if redis.call('ZSCORE', KEYS[4], id) then
      waiting[#waiting + 1] = id
    else
      drop(id)
      excess = excess - 1
    end
  end
  for place = 1, excess do drop(waiting[place]) end
end
if redis.call('EXISTS', KEYS[4]) == 1 then redis.call('ZADD', KEYS[5], 'GT', ARGV[3], ARGV[8]) end
for place = 1, 5 do
  if redis.call('PEXPIRE', KEYS[place], ARGV[6]) == 1 then indexed(KEYS[6], KEYS[place], tonumber(ARGV[6])) end
end
local kept = redis.call('HEXISTS', KEYS[1], ARGV[1])
return {kept, redis.call('ZCARD', KEYS[2]), redis.call('ZCARD', KEYS[4]), beside}
"""
)

# An empty line stays in the place of each, so that what comes late, or a second time, is not written any more.
_REMOVE = (
    UNERASED
    + INDEXED
    + """
for place = 2, #ARGV - 1 do
  redis.call('HSET', KEYS[1], ARGV[place], '')
  for order = 2, 4 do redis.call('ZREM', KEYS[order], ARGV[place]) end
end
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
indexed(KEYS[5], KEYS[1], redis.call('PTTL', KEYS[1]))
"""
)

_TOLD = """
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then return {} end
local ids, known = {}, {}
for place = 2, 3 do
  local limit = tonumber(ARGV[place])
  for _, id in ipairs(limit > 0 and redis.call('ZRANGE', KEYS[place], 0, limit - 1, 'REV') or {}) do
    if not known[id] then ids[#ids + 1], known[id] = id, true end
  end
end
if #ids == 0 then return {} end
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
        self._told = Script(redis, _TOLD)
        self._remove = Script(redis, _REMOVE)

    async def append(self, tenant: str, session: str, episode: Episode, *, epoch: int | None = None) -> bool:
        """Keep an episode; the same id again changes nothing.

        Args:
            tenant: Whose session it is.
            session: The session.
            episode: What happened.
            epoch: The tenant's epoch that it began under; None: not known.

        Returns:
            Whether it was new, and is kept: False for a duplicate, and for what is older than all that is kept.

        Raises:
            StoreUnavailable: When Redis does not answer, or refuses.
            TenantErased: The user was erased since.
        """
        kept, _ = await self._appended(tenant, session, episode, "", epoch)
        return kept

    async def append_beside(
        self, tenant: str, session: str, episode: Episode, other: str, *, epoch: int | None = None
    ) -> Episode | None:
        """Keep an episode as ``append`` does, and return another one of the session by its id; None: there is none.

        Raises:
            StoreUnavailable: When Redis does not answer, or refuses.
            TenantErased: The user was erased since.
        """
        _, found = await self._appended(tenant, session, episode, other, epoch)
        return read_back(Episode, found) if found else None

    async def _appended(
        self, tenant: str, session: str, episode: Episode, other: str, epoch: int | None
    ) -> tuple[bool, str]:
        waiting, _ = keys.promotion(tenant, session)
        kept, held, promotable, beside = await self._append(
            [
                *keys.episodes(tenant, session),
                waiting,
                keys.sessions(tenant),
                keys.index(tenant),
                keys.epoch(tenant),
            ],
            episode.id,
            episode.model_dump_json(),
            int(episode.at.timestamp() * 1000),
            _rank(episode),
            EPISODES_KEPT,
            _milliseconds(LIFETIME + KEPT_BEYOND),
            int(episode.is_promotable),
            session,
            other,
            known(epoch),
        )
        if promotable:
            # After the episode, and again with a duplicate: a retry after a crash in between writes it again.
            due = due_at(episode.at, episode.at, held)
            await ask(self._redis, "ZADD", keys.PROMOTING, "LT", int(due.timestamp() * 1000), tenant)
        return bool(kept), str(beside)

    async def remove(self, tenant: str, session: str, ids: Collection[str], *, epoch: int | None = None) -> None:
        """Remove episodes of a session, wherever they are listed; one that is not written yet is never written.

        Raises:
            StoreUnavailable: When Redis does not answer.
            TenantErased: The user was erased since.
        """
        if ids:
            waiting, _ = keys.promotion(tenant, session)
            places = [*keys.episodes(tenant, session), waiting, keys.index(tenant), keys.epoch(tenant)]
            await self._remove(places, _milliseconds(LIFETIME + KEPT_BEYOND), *ids, known(epoch))

    async def get(self, tenant: str, session: str, identifier: str) -> Episode | None:
        """Return an episode by its id.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        content, _, _ = keys.episodes(tenant, session)
        line = await ask(self._redis, "HGET", content, identifier)
        return read_back(Episode, line) if line else None

    async def everything(self, tenant: str) -> dict[str, list[Episode]]:
        """Return all that is kept of a tenant's sessions, each oldest first, by digests of the sessions' names.

        Raises:
            StoreUnavailable: When Redis does not answer.
        """
        found: dict[str, list[Episode]] = {}
        for key in await ask(self._redis, "ZRANGE", keys.index(tenant), 0, -1):
            if (session := keys.session_of(key, tenant)) is not None:
                lines = cast("list[str]", await ask(self._redis, "HVALS", key))
                episodes = [read_back(Episode, line) for line in lines if line]
                found[session] = sorted(episodes, key=lambda one: (one.at, one.id))
        return found

    async def told(self, tenant: str, session: str, *, recent: int = 0, important: int = 0) -> list[Episode]:
        """Return the newest episodes, newest first, and then the most important of the others.

        Args:
            tenant: Whose session it is.
            session: The session.
            recent: How many of the newest.
            important: How many of the most important, of equally important ones the newest; what is among the newest
                counts.

        Raises:
            StoreUnavailable: When Redis does not answer.
        """
        asked = self._told([*keys.episodes(tenant, session)], _milliseconds(KEPT_BEYOND), recent, important)
        lines = cast("list[str | None]", await asked)
        return [read_back(Episode, line) for line in lines if line]


def _milliseconds(time: timedelta) -> int:
    return int(time.total_seconds() * 1000)


def _rank(episode: Episode) -> int:
    """Return importance in thousandths, then time: exact in a score's 53 bits, for 139 years from 1970."""
    return (round(episode.importance * 1000) << 42) + int(episode.at.timestamp() * 1000)
