"""Claims on effects that must not happen twice: an owner, a deadline, and the result once there is one.

Owns the atomic moves between these states and nothing else; what to do in each is decided by its callers.

    free ── claim ──▶ claimed(owner, deadline) ── store ──▶ done(result)
     ▲                   │  ▲                │                 │
     └──── release ──────┘  └── take over ───┘◀── take over ───┘
           (only by who        (only from the owner that was seen: after the deadline,
            found it free)      or from one that made the effect with other arguments)

The first claim of a task binds the task's id to what the task is. Once every claim was released, nothing happened and
the id is free again, unless the task has completed. Claims and binding are kept for the same time. Once a task's
effects are undone, nothing is claimed any more but for what undoes them.

Deadlines are measured by the clock of Redis, and by that of the owner's machine: another attempt waits for both, as
either may be set forward. A process compares its own share of that time with a clock that also runs while the machine
or the process is suspended, so an attempt that slept through its deadline knows it.
A result is only taken from the present owner: an attempt that took over may have acted, or asked a person,
so a late result of the previous owner is not taken. Where there is no claim at all, Redis has lost it, or it was
released: then the result is taken from any attempt that has one, as it is what happened, even if the claim of an
attempt that took over was lost as well. That attempt then finds it, instead of asking or acting once more.
"""

import datetime
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from redis.asyncio import Redis

from perdure.errors import ClaimLost
from perdure.identity import idempotency_key
from perdure.stores.redis import keys
from perdure.stores.redis.bindings import BIND
from perdure.stores.redis.clocks import BOOT_CLOCK, left, noted
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, known
from perdure.tolerance import read_back
from perdure.values.bindings import TaskBinding, was_compensated

_FORMAT = 1
"""The version of a claim's stored form."""

# Every script gets the keys of the claim, the tenant's index, the task's binding, the task's keys and the tenant's
# epoch; and the owner that asks first, the epoch that the task was prepared under last. Each answers {state, owner,
# milliseconds left, result, arguments, note of the deadline, made at, problem}.
_COMMON = (
    UNERASED
    + INDEXED
    + """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local c = redis.call('HMGET', KEYS[1], 'owner', 'deadline', 'result', 'arguments', 'fresh', 'note', 'at', 'problem')
local owner, deadline, result, arguments, fresh, note = c[1], tonumber(c[2] or '0'), c[3], c[4] or '', c[5], c[6] or ''
local at, problem = tonumber(c[7] or '0'), c[8] or ''
local function keep(key, ttl)
  redis.call('PEXPIRE', key, ttl)
  indexed(KEYS[2], key, tonumber(ttl))
end
local function take(found, acts)
  redis.call('HSET', KEYS[1], 'format', ARGV[4], 'owner', ARGV[1], 'deadline', now + ARGV[2], 'fresh', found,
    'arguments', ARGV[5], 'step', ARGV[6], 'note', ARGV[7])
  if acts then
    redis.call('HSET', KEYS[1], 'at', now)
    redis.call('HDEL', KEYS[1], 'problem')
  end
  redis.call('HDEL', KEYS[1], 'result')
  redis.call('SADD', KEYS[4], KEYS[1])
  keep(KEYS[1], ARGV[3])
  keep(KEYS[4], ARGV[3])
  return {'ours', ARGV[1], tonumber(ARGV[2]), '', ARGV[5], '', at, problem}
end
local function seen()
  if result then return {'done', owner, 0, result, arguments, '', at, ''} end
  return {'theirs', owner, math.max(0, deadline - now), '', arguments, note, at, problem}
end
"""
)
_CLAIM = (
    _COMMON
    + BIND
    + """
if redis.call('HEXISTS', KEYS[3], 'compensated') == 1 and string.sub(ARGV[6], -11) ~= '.compensate' then
  return {'compensated', '', 0, '', '', '', 0, ''}
end
local binds = ARGV[8] ~= '' and redis.call('HEXISTS', KEYS[3], 'digest') == 0
local other = bind(KEYS[3], ARGV[8], ARGV[9])
if other then return {'bound', '', 0, other, '', '', 0, ''} end
if ARGV[8] ~= '' then keep(KEYS[3], ARGV[3]) end
if not owner then
  if binds then redis.call('HSET', KEYS[3], 'claimed', 'yes') end
  return take('yes', true)
end
if owner == ARGV[1] and not result then return {'ours', owner, deadline - now, '', arguments, '', at, problem} end
return seen()
"""
)
_TAKE_OVER = (
    _COMMON
    + """
if not owner then return take('yes', true) end
if owner == ARGV[1] and not result then return take(fresh or 'no', ARGV[9] == 'acts') end
if owner == ARGV[8] then
  if not result and deadline <= now then return take('no') end
  if result and arguments ~= ARGV[5] then return take('no') end
end
return seen()
"""
)
_STORE = (
    _COMMON
    + BIND
    + """
if not owner then
  if ARGV[8] ~= '' and not bind(KEYS[3], ARGV[8], ARGV[9]) then keep(KEYS[3], ARGV[3]) end
  take('no', true)
elseif owner ~= ARGV[1] then
  return {'theirs', owner, 0, '', '', '', 0, ''}
end
redis.call('HSET', KEYS[1], 'result', ARGV[10])
keep(KEYS[1], ARGV[3])
return {'done', ARGV[1], 0, '', '', '', at, ''}
"""
)
_DOUBT = (
    _COMMON
    + """
if owner == ARGV[1] and not result then
  deadline, note = now + ARGV[2], ARGV[3]
  redis.call('HSET', KEYS[1], 'deadline', deadline, 'note', note, 'fresh', ARGV[4])
end
return seen()
"""
)
_LOOK = _COMMON + "return seen()"
_NOTE = (
    _COMMON
    + """
if owner == ARGV[1] and not result then redis.call('HSET', KEYS[1], 'problem', ARGV[2]) end
return seen()
"""
)
_RELEASE = (
    _COMMON
    + """
if owner == ARGV[1] and not result and (fresh == 'yes' or ARGV[2] == 'known') then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], KEYS[1])
  redis.call('SREM', KEYS[4], KEYS[1])
  if redis.call('HEXISTS', KEYS[3], 'claimed') == 1 then
    -- The set also has the task's large values, and itself once it was renewed.
    for _, key in ipairs(redis.call('SMEMBERS', KEYS[4])) do
      if string.find(key, ':claim:', 1, true) then return {'theirs', '', 0, '', '', '', 0, ''} end
    end
    redis.call('HDEL', KEYS[3], 'digest', 'binding', 'claimed')
  end
end
return {'theirs', '', 0, '', '', '', 0, ''}
"""
)


class ClaimState(StrEnum):
    """The state of a claim's ownership."""

    OURS = "ours"
    THEIRS = "theirs"
    DONE = "done"


@dataclass(frozen=True, kw_only=True)
class OnceEffect:
    """An effect that must not happen twice: whose, and at which step of which task."""

    tenant: str
    task_id: str
    step: str
    """The step's path."""
    arguments: str = ""
    """The digest of what it is called with."""
    binding: TaskBinding | None = None
    """What its first claim binds the task's id to."""
    epoch: int | None = None
    """The tenant's epoch that the task was prepared under; None: not known."""

    @property
    def key(self) -> str:
        """Its idempotency key."""
        return idempotency_key(self.tenant, self.task_id, self.step)

    @property
    def places(self) -> list[str]:
        """The keys in Redis that a claim on it touches."""
        claim, index = keys.claim(self.tenant, self.key), keys.index(self.tenant)
        return [claim, index, *keys.task(self.tenant, self.task_id), keys.epoch(self.tenant)]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim as it was found or made."""

    holding: ClaimState
    owner: str
    remaining: float
    """Seconds to its deadline when it was asked for."""
    result: str = ""
    """The stored result, for one that is done."""
    arguments: str = ""
    """The digest of the arguments that it was made for."""
    at: datetime.datetime | None = None
    """When it was made to act: by its owner, or by an earlier one whose effect its owner has yet to find out."""
    problem: str = ""
    """How the attempt failed that it was made for; empty: it has not, or nobody could write it down."""
    asked_at: float
    """Our clock just before we asked, so that our deadline is never later than that of Redis."""

    def left(self) -> float:
        """Return the seconds to its deadline, by a clock that runs on while we are suspended."""
        return self.remaining - (time.clock_gettime(BOOT_CLOCK) - self.asked_at)


class Claims:
    """Claims in Redis. Every method raises TenantErased when the user was erased after the task was prepared.

    Args:
        redis: A client made with ``connect``, of a server that syncs each write and evicts nothing.
        ttl: How long a claim is kept after it was made, or its task renewed it. It must outlive the namespace's
            retention, within which a workflow can be reset to before its effect.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta) -> None:
        self._ttl = int(ttl.total_seconds() * 1000)
        self._claim = Script(redis, _CLAIM)
        self._take_over = Script(redis, _TAKE_OVER)
        self._store = Script(redis, _STORE)
        self._doubt = Script(redis, _DOUBT)
        self._look = Script(redis, _LOOK)
        self._note = Script(redis, _NOTE)
        self._release = Script(redis, _RELEASE)

    async def claim(self, effect: OnceEffect, owner: str, seconds: float) -> Claim:
        """Claim an effect, or see who has it.

        Args:
            effect: The effect.
            owner: Who asks; unique for each attempt.
            seconds: How long the effect may take.

        Raises:
            InvalidTask: The task's id is bound to another task, or its effects were undone.
        """
        return await _ask(self._claim, effect, *self._taking(effect, owner, seconds), *_binding(effect))

    async def take_over(
        self, effect: OnceEffect, expected: str, owner: str, seconds: float, *, acts: bool = False
    ) -> Claim:
        """Take the claim of an owner whose deadline has passed or whose arguments were others, or renew our own.

        Args:
            effect: The effect.
            expected: The owner that was seen; if it is another one by now, the claim stays with them.
            owner: Who asks.
            seconds: How long the effect may take from now.
            acts: Whether our own claim is taken anew to act, since what happened before it is known.
        """
        why = "acts" if acts else ""
        return await _ask(self._take_over, effect, *self._taking(effect, owner, seconds), expected, why)

    async def store(self, effect: OnceEffect, owner: str, result: str) -> None:
        """Keep the result of an effect that happened, also where its claim is gone; twice changes nothing.

        Raises:
            ClaimLost: When somebody else has the claim.
        """
        claim = await _ask(self._store, effect, *self._taking(effect, owner, 0.0), *_binding(effect), result)
        if claim.holding is ClaimState.THEIRS:
            raise ClaimLost("another attempt took this effect over before its result was stored")

    async def doubt(self, effect: OnceEffect, owner: str, seconds: float, *, checked: bool = False) -> Claim:
        """End the claim's time: its owner did not act, though what happened before it is not known.

        Args:
            effect: The effect.
            owner: Who has the claim.
            seconds: How much longer an earlier attempt may act.
            checked: Whether the tool's check found that it had not happened: then it is of no unknown fate, and the
                next attempt looks once more.

        Returns:
            The claim, as one that has to be taken over.
        """
        return await _ask(
            self._doubt, effect, owner, int(seconds * 1000), noted(seconds), "checked" if checked else "no"
        )

    async def failed(self, effect: OnceEffect, owner: str, problem: str) -> None:
        """Note how the attempt that has the claim failed, for the person who is asked what it did; the claim stays."""
        await _ask(self._note, effect, owner, problem)

    async def release(self, effect: OnceEffect, owner: str, *, known: bool = False) -> None:
        """Remove the claim: nothing happened. One that was taken over stays: an earlier owner may have acted.

        Args:
            effect: The effect.
            owner: Who has the claim.
            known: Whether it was found out that no earlier owner acted either, so that it goes in any case.
        """
        await _ask(self._release, effect, owner, "known" if known else "")

    async def look(self, effect: OnceEffect) -> Claim:
        """Return the claim as it is; without an owner where there is none."""
        return await _ask(self._look, effect, "")

    async def is_free(self, effect: OnceEffect) -> bool:
        """Return whether nobody has a claim on an effect."""
        return not (await self.look(effect)).owner

    def _taking(self, effect: OnceEffect, owner: str, seconds: float) -> tuple[str | int, ...]:
        return owner, max(1, int(seconds * 1000)), self._ttl, _FORMAT, effect.arguments, effect.step, noted(seconds)


def _binding(effect: OnceEffect) -> tuple[str, str]:
    return (effect.binding.model_dump_json(), effect.binding.digest) if effect.binding else ("", "")


async def _ask(script: Script, effect: OnceEffect, *arguments: str | int) -> Claim:
    asked_at = time.clock_gettime(BOOT_CLOCK)
    answer = await script(effect.places, *arguments, known(effect.epoch))
    holding, owner, milliseconds, result, made_for, note, at, problem = cast("list[Any]", answer)
    if holding == "compensated":
        raise was_compensated(effect.task_id)
    if holding == "bound" and effect.binding is not None:
        raise effect.binding.refused(effect.task_id, read_back(TaskBinding, result))
    return Claim(
        holding=ClaimState(holding),
        owner=str(owner or ""),
        remaining=max(int(milliseconds) / 1000, left(note) if note else 0.0),
        result=str(result),
        arguments=str(made_for),
        at=datetime.datetime.fromtimestamp(int(at) / 1000, datetime.UTC) if at else None,
        problem=str(problem),
        asked_at=asked_at,
    )
