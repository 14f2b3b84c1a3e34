"""Which episodes wait to be promoted, and whose; each is taken for good by one operation. Extracts nothing."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, Script, ask
from perdure.tolerance import read_back
from perdure.values.episodes import IDLE, Episode

_AWAY = 2 * IDLE
"""How long a tenant that is looked at stays out of the list; longer than until a session that is written meanwhile is
due, so that such a write shows in its score."""

# A process that dies leaves what it has taken, and the next one takes the very same: so it can be recognised.
_TAKE = (
    INDEXED
    + """
if redis.call('EXISTS', KEYS[2]) == 0 then
  local found = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
  for place = 1, #found, 2 do redis.call('ZADD', KEYS[2], found[place + 1], found[place]) end
  local left = redis.call('PTTL', KEYS[1])
  if left > 0 then
    redis.call('PEXPIRE', KEYS[2], left)
    indexed(KEYS[4], KEYS[2], left)
  end
end
local ids = redis.call('ZRANGE', KEYS[2], 0, -1)
if #ids == 0 then return {{}, {}} end
return {ids, redis.call('HMGET', KEYS[3], unpack(ids))}
"""
)

_DONE = """
for place = 2, #ARGV do
  redis.call('ZREM', KEYS[1], ARGV[place])
  redis.call('ZREM', KEYS[2], ARGV[place])
end
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('ZREM', KEYS[3], ARGV[1]) end
"""

_END = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return end
if ARGV[3] == '' then redis.call('ZREM', KEYS[1], ARGV[1]) else redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
"""


class WaitingSession(NamedTuple):
    """What waits in one session."""

    session: str
    last: datetime
    """When the session's last episode happened."""
    first: datetime | None
    """When the first of those happened that wait; None: none waits any more."""
    held: int
    """How many episodes the session holds."""


class TakenSession(NamedTuple):
    """Episodes that are being promoted."""

    ids: tuple[str, ...]
    episodes: tuple[Episode, ...]
    """Those of them that are still there, oldest first."""


class Promotions:
    """What waits to be promoted, of all tenants.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._take = Script(redis, _TAKE)
        self._done = Script(redis, _DONE)
        self._end = Script(redis, _END)

    async def tenants(self, now: datetime, limit: int) -> list[str]:
        """Return tenants of which a session may be due, the longest due first.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return await ask(self._redis, "ZRANGEBYSCORE", keys.PROMOTING, "-inf", _score(now), "LIMIT", 0, limit)

    async def begin(self, tenant: str, now: datetime) -> str:
        """Take a tenant out of the list for a while; returns a token for ``end``. What is written lists it again.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        token = _score(now + _AWAY)
        await ask(self._redis, "ZADD", keys.PROMOTING, token, tenant)
        return str(token)

    async def end(self, tenant: str, token: str, due: datetime | None) -> None:
        """List a tenant by when its next session is due, unless something was written since ``begin``.

        Args:
            tenant: Which.
            token: What ``begin`` returned.
            due: When; None: nothing of it waits any more.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        await self._end([keys.PROMOTING], tenant, token, "" if due is None else _score(due))

    async def sessions(self, tenant: str) -> list[WaitingSession]:
        """Return the sessions of a tenant in which something waits, or did.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        found: list[WaitingSession] = []
        for session, last in await ask(self._redis, "ZRANGE", keys.sessions(tenant), 0, -1, "WITHSCORES"):
            waiting, _ = keys.promotion(tenant, session)
            _, by_time, _ = keys.episodes(tenant, session)
            first = await ask(self._redis, "ZRANGE", waiting, 0, 0, "WITHSCORES")
            held = await ask(self._redis, "ZCARD", by_time)
            found.append(WaitingSession(session, _moment(last), _moment(first[0][1]) if first else None, held))
        return found

    async def take(self, tenant: str, session: str, limit: int) -> TakenSession:
        """Return the oldest episodes that wait in a session; those that are taken already, until they are promoted.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        content, _, _ = keys.episodes(tenant, session)
        places = [*keys.promotion(tenant, session), content, keys.index(tenant)]
        ids, lines = await self._take(places, limit)
        return TakenSession(tuple(ids), tuple(read_back(Episode, line) for line in lines if line))

    async def promoted(self, tenant: str, session: str, ids: Sequence[str] = ()) -> None:
        """Record that episodes are promoted: they wait no longer. A session in which none waits leaves the list.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        await self._done([*keys.promotion(tenant, session), keys.sessions(tenant)], session, *ids)


def _score(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _moment(score: float) -> datetime:
    return datetime.fromtimestamp(float(score) / 1000, UTC)
