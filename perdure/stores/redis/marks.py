"""Redis's own marks: the id of its journal, since when it lost nothing, and how far each process came."""

from collections.abc import Mapping
from datetime import UTC, datetime

from redis.asyncio import Redis

from perdure.errors import StoreLost
from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask, opened
from perdure.values.losses import Mark, Store, Told

_ID = "journal"
_SINCE = "since"
_OF = "mark:"
_CLAIMS = "claims:"
_REBUILDING = "rebuilding"

# Answers 0 where what the process wrote last is no longer there.
_MARK = """
local known = redis.call('HGET', KEYS[1], ARGV[1])
local done = known and tonumber(string.match(known, '^%d+ (%d+)')) or 0
if redis.call('HEXISTS', KEYS[1], ARGV[4]) == 0 or done < tonumber(ARGV[3]) then return 0 end
-- A command that was late must not undo what a later one has written.
if done < tonumber(string.match(ARGV[2], '^%d+ (%d+)')) then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
"""

# Answers 0, and counts nothing, where what the process counted last is no longer there: one that counted on would hide
# that the claims before it are lost.
_CLAIMED = """
local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if known < tonumber(ARGV[3]) then return 0 end
if known < tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
"""

# Processes go on counting while their numbers are restored.
_RAISE_CLAIMS = """
for place = 1, #ARGV, 2 do
  if tonumber(redis.call('HGET', KEYS[1], ARGV[place]) or '0') < tonumber(ARGV[place + 1]) then
    redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1])
  end
end
return 1
"""


class RedisMarks:
    """The marks in Redis. Every method raises StoreUnavailable when it does not answer."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._mark = Script(redis, _MARK)
        self._claimed = Script(redis, _CLAIMED)
        self._raise_claims = Script(redis, _RAISE_CLAIMS)

    @property
    def connections(self) -> int:
        """How many connections were opened; after another one, what Redis said of itself may hold no longer."""
        return opened(self._redis)

    async def told(self) -> Told:
        """Return the journal's id and the marks that Redis has."""
        found: dict[str, str] = await ask(self._redis, "HGETALL", keys.MARKS)
        marks = {name.removeprefix(_OF): Mark.read(text) for name, text in found.items() if name.startswith(_OF)}
        for name, text in found.items():
            if name.startswith(_CLAIMS):
                writer = name.removeprefix(_CLAIMS)
                marks[writer] = marks.get(writer, Mark())._replace(claimed=int(text))
        return Told(found.get(_ID), marks)

    async def journal(self) -> str | None:
        """Return the id of the journal that Redis belongs to; None where it says nothing of itself."""
        return await ask(self._redis, "HGET", keys.MARKS, _ID)

    async def since(self) -> datetime | None:
        """Return since when Redis has lost nothing; None where it says nothing of itself."""
        since: str | None = await ask(self._redis, "HGET", keys.MARKS, _SINCE)
        return datetime.fromisoformat(since) if since else None

    async def begin(self, journal: str) -> None:
        """Bind Redis to a journal, unless it belongs to one."""
        await ask(self._redis, "HSETNX", keys.MARKS, _SINCE, datetime.now(UTC).isoformat())
        await ask(self._redis, "HSETNX", keys.MARKS, _ID, journal)

    async def rebuilding(self, token: str) -> str:
        """Return the token under which Redis is being rebuilt; this one, if it is not. A further loss takes it away."""
        await ask(self._redis, "HSETNX", keys.MARKS, _REBUILDING, token)
        return await ask(self._redis, "HGET", keys.MARKS, _REBUILDING)

    async def rebuilt_by(self) -> str:
        """Return the token under which Redis is being rebuilt; empty where there is none."""
        return await ask(self._redis, "HGET", keys.MARKS, _REBUILDING) or ""

    async def move(self, journal: str) -> None:
        """Bind Redis to another journal."""
        await ask(self._redis, "HSET", keys.MARKS, _ID, journal)

    async def write(self, writer: str, mark: Mark, *, at_least: int) -> None:
        """Record how far a process has come.

        Args:
            writer: The process.
            mark: How far.
            at_least: How many done operations of the process it must know of, since the journal does.

        Raises:
            StoreLost: It knows of fewer.
        """
        if not await self._mark([keys.MARKS], f"{_OF}{writer}", str(mark), at_least, _ID):
            raise StoreLost(Store.REDIS, "has lost what was written to it")

    async def claimed(self, writer: str, number: int, *, after: int) -> bool:
        """Record how many claims a process has made, the last one before this call.

        Args:
            writer: The process.
            number: How many.
            after: How many it had recorded before.

        Returns:
            False where Redis knows of fewer, and so has lost some: nothing is recorded.
        """
        return bool(await self._claimed([keys.MARKS], f"{_CLAIMS}{writer}", number, after))

    async def restore(self, journal: str, marks: Mapping[str, Mark]) -> None:
        """Write the marks of a Redis that was rebuilt; what cannot be rebuilt, as claims, was lost until now."""
        since = (_SINCE, datetime.now(UTC).isoformat())
        fields = (text for writer, mark in marks.items() for text in (f"{_OF}{writer}", str(mark)))
        claims = (text for writer, mark in marks.items() for text in (f"{_CLAIMS}{writer}", mark.claimed))
        await self._raise_claims([keys.MARKS], *claims)
        await ask(self._redis, "HSET", keys.MARKS, *since, *fields, _ID, journal)
        await ask(self._redis, "HDEL", keys.MARKS, _REBUILDING)

    async def remove(self, writer: str) -> None:
        """Remove the marks of a retired process."""
        await ask(self._redis, "HDEL", keys.MARKS, f"{_OF}{writer}", f"{_CLAIMS}{writer}")
