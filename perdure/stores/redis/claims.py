"""Claims on effects that must not happen twice: an owner, a deadline, and the result once there is one.

Owns the atomic moves between these states and nothing else; what to do in each is decided by its callers.

    free ── claim ──▶ claimed(owner, deadline) ── store ──▶ done(result)
     ▲                   │  ▲                │
     └──── release ──────┘  └── take over ───┘  (only after the deadline, only from the owner that was seen)

Deadlines are measured by the clock of Redis. A process compares its own share of that time with a clock that
also runs while the machine or the process is suspended, so an attempt that slept through its deadline knows it.
A result is only taken from the present owner: an attempt that took over may have acted, or asked a person,
so a late result of the previous owner is not taken.
"""

import datetime
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from redis.asyncio import Redis

from perdure.errors import ClaimLost
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, Script

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

_FORMAT = 1
"""The version of a claim's stored form."""

# Every script gets the claim's key and the tenant's index, and answers {state, owner, milliseconds left, result}.
_COMMON = (
    INDEXED
    + """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local c = redis.call('HMGET', KEYS[1], 'owner', 'deadline', 'result')
local owner, deadline, result = c[1], tonumber(c[2] or '0'), c[3]
local function keep(ttl)
  redis.call('PEXPIRE', KEYS[1], ttl)
  indexed(KEYS[2], KEYS[1], tonumber(ttl))
end
local function take(mine, timeout, ttl, format)
  redis.call('HSET', KEYS[1], 'format', format, 'owner', mine, 'deadline', now + timeout)
  keep(ttl)
  return {'ours', mine, tonumber(timeout), ''}
end
local function seen()
  if result then return {'done', owner, 0, result} end
  return {'theirs', owner, math.max(0, deadline - now), ''}
end
"""
)
_CLAIM = (
    _COMMON
    + """
if not owner then return take(ARGV[1], ARGV[2], ARGV[3], ARGV[4]) end
if owner == ARGV[1] and not result then return {'ours', owner, deadline - now, ''} end
return seen()
"""
)
_TAKE_OVER = (
    _COMMON
    + """
if not owner then return take(ARGV[1], ARGV[2], ARGV[3], ARGV[4]) end
if not result and (owner == ARGV[1] or (owner == ARGV[5] and deadline <= now)) then
  return take(ARGV[1], ARGV[2], ARGV[3], ARGV[4])
end
return seen()
"""
)
_STORE = (
    _COMMON
    + """
if owner ~= ARGV[1] then return {'theirs', owner or '', 0, ''} end
redis.call('HSET', KEYS[1], 'result', ARGV[2])
keep(ARGV[3])
return {'done', owner, 0, ''}
"""
)
_EXPIRE = (
    _COMMON
    + """
if owner == ARGV[1] and not result then redis.call('HSET', KEYS[1], 'deadline', now) end
return seen()
"""
)
_RELEASE = (
    _COMMON
    + """
if owner == ARGV[1] and not result then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], KEYS[1])
end
return {'free', '', 0, ''}
"""
)


class Holding(StrEnum):
    """Who has a claim."""

    OURS = "ours"
    THEIRS = "theirs"
    DONE = "done"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim as it was found or made."""

    holding: Holding
    owner: str
    remaining: float
    """Seconds to its deadline when it was asked for."""
    result: str = ""
    """The stored result, for one that is done."""
    asked_at: float
    """Our clock just before we asked, so that our deadline is never later than that of Redis."""

    def left(self) -> float:
        """Return the seconds to its deadline, by a clock that runs on while we are suspended."""
        return self.remaining - (time.clock_gettime(_CLOCK) - self.asked_at)


class Claims:
    """Claims in Redis.

    Args:
        redis: A client made with ``connect``, of a server that syncs each write and evicts nothing.
        ttl: How long a claim is kept. It must outlive the namespace's retention, within which a
            workflow can be reset to before its effect.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta) -> None:
        self._ttl = int(ttl.total_seconds() * 1000)
        self._claim = Script(redis, _CLAIM)
        self._take_over = Script(redis, _TAKE_OVER)
        self._store = Script(redis, _STORE)
        self._expire = Script(redis, _EXPIRE)
        self._release = Script(redis, _RELEASE)

    async def claim(self, tenant: str, key: str, owner: str, seconds: float) -> Claim:
        """Claim an effect, or see who has it.

        Args:
            tenant: Whose effect it is.
            key: The effect's idempotency key.
            owner: Who asks; unique for each attempt.
            seconds: How long the effect may take.
        """
        return await _ask(self._claim, tenant, key, owner, _milliseconds(seconds), self._ttl, _FORMAT)

    async def take_over(self, tenant: str, key: str, expected: str, owner: str, seconds: float) -> Claim:
        """Take the claim of an owner whose deadline has passed, or renew our own.

        Args:
            tenant: Whose effect it is.
            key: The effect's idempotency key.
            expected: The owner that was seen; if it is another one by now, the claim stays with them.
            owner: Who asks.
            seconds: How long the effect may take from now.
        """
        return await _ask(self._take_over, tenant, key, owner, _milliseconds(seconds), self._ttl, _FORMAT, expected)

    async def store(self, tenant: str, key: str, owner: str, result: str) -> None:
        """Keep the result of an effect that happened; storing it twice changes nothing.

        Raises:
            ClaimLost: When somebody else has the claim.
        """
        claim = await _ask(self._store, tenant, key, owner, result, self._ttl)
        if claim.holding is Holding.THEIRS:
            raise ClaimLost("another attempt took this effect over before its result was stored")

    async def expire(self, tenant: str, key: str, owner: str) -> None:
        """End the claim's time now: nothing is going on any more, though what happened is not known."""
        await _ask(self._expire, tenant, key, owner)

    async def release(self, tenant: str, key: str, owner: str) -> None:
        """Remove the claim: nothing happened."""
        await _ask(self._release, tenant, key, owner)


async def _ask(script: Script, tenant: str, key: str, *arguments: str | int) -> Claim:
    asked_at = time.clock_gettime(_CLOCK)
    answer = await script([keys.claim(tenant, key), keys.index(tenant)], *arguments)
    holding, owner, milliseconds, result = cast("list[Any]", answer)
    return Claim(
        holding=Holding.THEIRS if holding == "free" else Holding(holding),
        owner=str(owner or ""),
        remaining=int(milliseconds) / 1000,
        result=str(result),
        asked_at=asked_at,
    )


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))
