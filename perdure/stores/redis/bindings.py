"""What Redis knows about a task as a whole: what its id is bound to, which workflow runs it, and what lives as long.

A task is a tenant and a task id. Decides nothing about it: whether a workflow is still open is asked elsewhere.
"""

import datetime
from dataclasses import dataclass

from redis.asyncio import Redis

from perdure.errors import ClaimLost
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known
from perdure.tolerance import read_back
from perdure.values.bindings import TaskBinding

# Answers what else the task is bound to, if it is. Without a binding, there is nothing to bind.
BIND = """
local function bind(key, binding, digest)
  if binding == '' then return nil end
  local bound = redis.call('HMGET', key, 'digest', 'binding')
  if bound[1] then return bound[1] ~= digest and bound[2] or nil end
  redis.call('HSET', key, 'binding', binding, 'digest', digest)
  return nil
end
"""
"""The Lua function ``bind(key, binding, digest)``, for scripts that make the first claim of a task, or end one."""

_OPEN = (
    UNERASED
    + INDEXED
    + """
local found = redis.call('HMGET', KEYS[1], 'holder', 'binding', 'compensated')
local holder = found[1] or ''
if holder == '' or holder == ARGV[1] or holder == ARGV[2] then
  holder = ARGV[1]
  redis.call('HSET', KEYS[1], 'holder', holder)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  indexed(KEYS[2], KEYS[1], tonumber(ARGV[3]))
end
return {holder, found[2] or '', found[3] or ''}
"""
)

# Only for the workflow that runs the task, and only instead of what was confirmed to be replaced. From then on the id
# stays bound, whatever becomes of the claims.
_BEGIN = (
    UNERASED
    + INDEXED
    + """
local found = redis.call('HMGET', KEYS[1], 'holder', 'digest', 'binding')
if found[1] ~= ARGV[1] then return {'held', found[1] or ''} end
if found[2] and found[2] ~= ARGV[4] and found[2] ~= ARGV[2] then return {'bound', found[3]} end
redis.call('HSET', KEYS[1], 'binding', ARGV[3], 'digest', ARGV[4])
redis.call('HDEL', KEYS[1], 'claimed')
redis.call('PEXPIRE', KEYS[1], ARGV[5])
indexed(KEYS[2], KEYS[1], tonumber(ARGV[5]))
return {'', ''}
"""
)

_COMPENSATE = (
    UNERASED
    + INDEXED
    + """
redis.call('HSET', KEYS[1], 'compensated', 'yes')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
indexed(KEYS[2], KEYS[1], tonumber(ARGV[1]))
return 'yes'
"""
)

# The index is written once for all, since a task may have tens of thousands of keys. The set lists itself, so that a
# task of which Redis has nothing else is known to live: its large values may be in files alone.
_KEEP = (
    UNERASED
    + INDEXED
    + BIND
    + """
local ttl = tonumber(ARGV[1])
local t = redis.call('TIME')
local expiry = t[1] * 1000 + math.floor(t[2] / 1000) + ttl
local unknown = {}
bind(KEYS[1], ARGV[2], ARGV[3])
-- A completed task stays bound, also where the claims that bound it are released.
if ARGV[2] ~= '' then redis.call('HDEL', KEYS[1], 'claimed') end
redis.call('SADD', KEYS[2], KEYS[2])
for _, key in ipairs(redis.call('SMEMBERS', KEYS[2])) do
  if redis.call('PEXPIRE', key, ttl) == 0 then
    redis.call('SREM', KEYS[2], key)
  else
    redis.call('ZADD', KEYS[3], 'GT', expiry, key)
    if string.find(key, ':claim:', 1, true) then
      local claim = redis.call('HMGET', key, 'result', 'step', 'fresh')
      if not claim[1] and claim[3] ~= 'checked' then unknown[#unknown + 1] = claim[2] end
    end
  end
end
for place = 1, 2 do
  if redis.call('PEXPIRE', KEYS[place], ttl) == 1 then indexed(KEYS[3], KEYS[place], ttl) end
end
return unknown
"""
)


_EFFECTS = """
local found = {}
for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if string.find(key, ':claim:', 1, true) then
    local step = redis.call('HGET', key, 'step')
    if step then found[#found + 1] = step end
  end
end
return found
"""


@dataclass(frozen=True, kw_only=True)
class OpenedTask:
    """What is known of a task when a workflow wants to run it."""

    holder: str
    """The workflow that runs it: the one that asked, if no other did."""
    binding: TaskBinding | None
    """What its id is bound to."""
    compensated: bool = False
    """Whether its effects were undone, or have begun to be."""


class TaskBindings:
    """What tasks are bound to, in Redis.

    Args:
        redis: A client made with ``connect``.
        ttl: How long a task's claims are kept after it was last renewed.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta) -> None:
        self.ttl = ttl
        self._ttl = int(ttl.total_seconds() * 1000)
        self._open = Script(redis, _OPEN)
        self._redis = redis
        self._begin = Script(redis, _BEGIN)
        self._keep = Script(redis, _KEEP)
        self._effects = Script(redis, _EFFECTS)
        self._compensate = Script(redis, _COMPENSATE)

    async def open(
        self, tenant: str, task_id: str, holder: str, *, instead_of: str = "", epoch: int | None = None
    ) -> OpenedTask:
        """Note that a workflow runs a task, unless another one does.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            holder: The workflow.
            instead_of: The one that was seen to have ended.
            epoch: The tenant's epoch that the task was prepared under; None: not known.

        Raises:
            TenantErased: The user was erased since.
            StoreUnavailable: Redis does not answer.
        """
        binding, _ = keys.task(tenant, task_id)
        found, bound, compensated = await self._open(
            [binding, keys.index(tenant), keys.epoch(tenant)], holder, instead_of, self._ttl, known(epoch)
        )
        known_binding = read_back(TaskBinding, bound) if bound else None
        return OpenedTask(holder=found, binding=known_binding, compensated=bool(compensated))

    async def known(self, tenant: str, task_id: str) -> OpenedTask | None:
        """Return what is known of a task, which nobody runs by this; None: nothing.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        place, _ = keys.task(tenant, task_id)
        holder, bound, compensated = await ask(self._redis, "HMGET", place, "holder", "binding", "compensated")
        if not (holder or bound or compensated):
            return None
        binding = read_back(TaskBinding, bound) if bound else None
        return OpenedTask(holder=holder or "", binding=binding, compensated=bool(compensated))

    async def begin(
        self, tenant: str, task_id: str, holder: str, binding: TaskBinding, *, instead_of: str, epoch: int | None
    ) -> None:
        """Bind a task's id to what it stands for from now on, with where its runs begin; twice changes nothing.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            holder: The workflow that runs it.
            binding: What its id is to be bound to.
            instead_of: The digest of what it may be bound to so far; empty: it has to be free.
            epoch: The tenant's epoch that the task was prepared under; None: not known.

        Raises:
            InvalidTask: It is bound to something else by now.
            ClaimLost: Another workflow runs the task by now.
            TenantErased: The user was erased since.
            StoreUnavailable: Redis does not answer.
        """
        place, _ = keys.task(tenant, task_id)
        encoded = binding.model_dump_json()
        refused, by = await self._begin(
            [place, keys.index(tenant), keys.epoch(tenant)],
            holder,
            instead_of,
            encoded,
            binding.digest,
            self._ttl,
            known(epoch),
        )
        if refused == "held":
            raise ClaimLost(f"another workflow runs the task now: {by}")
        if refused:
            raise binding.refused(task_id, read_back(TaskBinding, by))

    async def compensate(self, tenant: str, task_id: str, *, epoch: int | None = None) -> None:
        """Note that a task's effects are undone from now on: nothing is claimed for its steps any more.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            epoch: The tenant's epoch that the task was prepared under; None: not known.

        Raises:
            TenantErased: The user was erased since.
            StoreUnavailable: Redis does not answer.
        """
        binding, _ = keys.task(tenant, task_id)
        await self._compensate([binding, keys.index(tenant), keys.epoch(tenant)], self._ttl, known(epoch))

    async def keep(
        self, tenant: str, task_id: str, binding: TaskBinding | None = None, *, epoch: int | None = None
    ) -> tuple[str, ...]:
        """Keep a task's claims, large values and binding for their full time from now.

        Args:
            tenant: Whose task it is.
            task_id: The task.
            binding: What its id is to be bound to, if it is not bound yet.
            epoch: The tenant's epoch that the task was prepared under; None: not known.

        Returns:
            The paths of the steps whose effect was claimed and has no result: nobody knows whether it happened.

        Raises:
            StoreUnavailable: Redis does not answer.
            TenantErased: The user was erased since.
        """
        bound = (binding.model_dump_json(), binding.digest) if binding else ("", "")
        found = await self._keep(
            [*keys.task(tenant, task_id), keys.index(tenant), keys.epoch(tenant)], self._ttl, *bound, known(epoch)
        )
        return tuple(sorted(found))

    async def effects(self, tenant: str, task_id: str) -> tuple[str, ...]:
        """Return the paths of the steps whose effect is claimed, sorted.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        _, claimed = keys.task(tenant, task_id)
        return tuple(sorted(await self._effects([claimed])))
