"""Which memories each session has added: a session may add only so many."""

import datetime
from collections.abc import Sequence

from redis.asyncio import Redis

from perdure.identity import digest
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, known

_ADMIT = (
    UNERASED
    + INDEXED
    + """
local ttl, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local admitted = {}
for place = 3, #ARGV - 1 do
  if redis.call('SISMEMBER', KEYS[1], ARGV[place]) == 1 then
    admitted[place - 2] = 1
  elseif redis.call('SCARD', KEYS[1]) < most then
    redis.call('SADD', KEYS[1], ARGV[place])
    admitted[place - 2] = 1
  else
    admitted[place - 2] = 0
  end
end
redis.call('PEXPIRE', KEYS[1], ttl)
indexed(KEYS[2], KEYS[1], ttl)
return admitted
"""
)


class SessionWrites:
    """Counts what a session adds, by distinct occurrences: a retry is admitted again, and counted once.

    What it offers that waits for a person is counted apart. It holds digests alone.

    Args:
        redis: A client made with ``connect``.
        ttl: How long a session is counted after it last added something.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta = datetime.timedelta(days=4)) -> None:
        self._ttl = int(ttl.total_seconds() * 1000)
        self._admit = Script(redis, _ADMIT)

    async def admit(
        self,
        tenant: str,
        session: str,
        occurrences: Sequence[str],
        *,
        most: int,
        held: bool = False,
        epoch: int | None = None,
    ) -> list[bool]:
        """Return for each observation whether the session may add it.

        Args:
            tenant: Whose session.
            session: Which one.
            occurrences: Where each was observed.
            most: How many a session may add.
            held: Whether they wait for a person.
            epoch: The tenant's epoch when they were accepted; None: not known.

        Raises:
            TenantErased: The tenant was erased since.
            StoreUnavailable: Redis does not answer.
        """
        if not occurrences:
            return []
        place = keys.put_on_hold if held else keys.written
        places = [place(tenant, session), keys.index(tenant), keys.epoch(tenant)]
        digests = [digest("occurrence/1", one)[:24] for one in occurrences]
        found = await self._admit(places, self._ttl, most, *digests, known(epoch))
        return [bool(one) for one in found]
