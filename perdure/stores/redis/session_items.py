"""Items of agents' sessions: lists to which each addition is made once, and from which each removal takes once."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import cast

from redis.asyncio import Redis

from perdure.errors import InvalidInput
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known
from perdure.values.session_items import SessionItem

LIFETIME = timedelta(days=90)
"""How long a session is kept after what was added to it last; a choice."""

MOST = 10_000
"""Items that a session may have; a choice, far more than a model reads."""

_REPEATED = timedelta(days=1)
"""For how long after the last attempt at it a change is known, so that another one changes nothing; a choice."""

# The keys are the session's, that of the change, the tenant's index and epoch. What was changed is not changed again.
_ADD = (
    UNERASED
    + INDEXED
    + """
if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then
  indexed(KEYS[3], KEYS[2], tonumber(ARGV[2]))
  return redis.call('LLEN', KEYS[1])
end
local number = #ARGV - 4
if redis.call('LLEN', KEYS[1]) + number > tonumber(ARGV[3]) then return -1 end
for place = 4, #ARGV - 1 do redis.call('RPUSH', KEYS[1], ARGV[place]) end
redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
indexed(KEYS[3], KEYS[2], tonumber(ARGV[2]))
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 1 then indexed(KEYS[3], KEYS[1], tonumber(ARGV[1])) end
return redis.call('LLEN', KEYS[1])
"""
)
_REMOVE = (
    UNERASED
    + INDEXED
    + """
local made = redis.call('GET', KEYS[2])
if made then
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
  indexed(KEYS[3], KEYS[2], tonumber(ARGV[1]))
  return made
end
local last = ''
if ARGV[2] == 'all' then redis.call('DEL', KEYS[1]) else last = redis.call('RPOP', KEYS[1]) or '' end
redis.call('SET', KEYS[2], last, 'PX', ARGV[1])
indexed(KEYS[3], KEYS[2], tonumber(ARGV[1]))
return last
"""
)


class SessionItemStore:
    """The items of every session. Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._add = Script(redis, _ADD)
        self._remove = Script(redis, _REMOVE)

    async def read(self, tenant: str, session: str, *, limit: int | None = None) -> list[SessionItem]:
        """Return a session's items in their order, or only the latest ones."""
        first = 0 if limit is None else -limit
        lines = await ask(self._redis, "LRANGE", keys.session_items(tenant, session), first, -1)
        return [json.loads(line) for line in cast("list[str]", lines)]

    async def add(
        self, tenant: str, session: str, items: Sequence[SessionItem], *, addition: str, epoch: int | None
    ) -> None:
        """Add items at a session's end, once for each addition.

        Args:
            tenant: Whose.
            session: The session.
            items: The items.
            addition: The id of the addition.
            epoch: The tenant's epoch when it was asked for.

        Raises:
            InvalidInput: The session has too many.
            TenantErased: The user was erased since.
        """
        lines = [json.dumps(item, ensure_ascii=True, separators=(",", ":")) for item in items]
        times = (_milliseconds(LIFETIME), _milliseconds(_REPEATED))
        count = await self._add(self._places(tenant, session, addition), *times, MOST, *lines, known(epoch))
        if cast("int", count) < 0:
            fix = "clear it, or begin another one"
            raise InvalidInput("session", f"it would have more than {MOST:,} items", fix=fix)

    async def remove(
        self, tenant: str, session: str, *, removal: str, everything: bool, epoch: int | None
    ) -> SessionItem | None:
        """Remove a session's last item, or all of them, once for each removal.

        Returns:
            The last item; None where all are removed, or there was none.

        Raises:
            TenantErased: The user was erased since.
        """
        places = self._places(tenant, session, removal)
        which = "all" if everything else "last"
        line = str(await self._remove(places, _milliseconds(_REPEATED), which, known(epoch)))
        return json.loads(line) if line else None

    async def everything(self, tenant: str) -> dict[str, list[SessionItem]]:
        """Return the items of all of a tenant's sessions, by digests of the sessions' names."""
        found: dict[str, list[SessionItem]] = {}
        for key in await ask(self._redis, "ZRANGE", keys.index(tenant), 0, -1):
            if (session := keys.items_session_of(key, tenant)) is not None:
                lines = cast("list[str]", await ask(self._redis, "LRANGE", key, 0, -1))
                found[session] = [json.loads(line) for line in lines]
        return found

    def _places(self, tenant: str, session: str, change: str) -> list[str]:
        own = keys.session_items(tenant, session), keys.session_change(tenant, session, change)
        return [*own, keys.index(tenant), keys.epoch(tenant)]


def _milliseconds(time: timedelta) -> int:
    return int(time.total_seconds() * 1000)
