"""Large values by their digest, so that histories stay small: in Redis, and those of tasks in files as well.

A value is kept once one of the two has it, and the other gets it later. Files go with the keys, and with their task.
"""

import datetime
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable
from contextlib import suppress
from typing import cast

from pydantic import JsonValue
from redis.asyncio import Redis

from perdure.errors import ResultExpired, StoreUnavailable, TenantErased
from perdure.stores.journal.values import ValueFiles
from perdure.stores.redis import keys
from perdure.stores.redis.connection import INDEXED, UNERASED, Script, ask, known
from perdure.together import together

CACHE_BYTES = 32_000_000
"""What a process keeps of them in memory: sixteen of the largest."""

CACHED_FOR = 600.0
"""Seconds after which a process asks Redis again for what it has in memory: a choice. A task gets over that long
without Redis, and what was erased there is gone from every process by then."""

OUTPUT = "output"
"""The kind that is cached: values of tasks, which their steps read again and again."""

_KEEP = (
    UNERASED
    + INDEXED
    + """
local ttl = tonumber(ARGV[2])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
indexed(KEYS[2], KEYS[1], ttl)
if #KEYS > 3 then
  redis.call('SADD', KEYS[3], KEYS[1])
  redis.call('PEXPIRE', KEYS[3], ttl)
  indexed(KEYS[2], KEYS[3], ttl)
end
"""
)
_GET = (
    INDEXED
    + """
local value = redis.call('GETEX', KEYS[1], 'PX', ARGV[1])
if value then
  local ttl = tonumber(ARGV[1])
  indexed(KEYS[2], KEYS[1], ttl)
  if KEYS[3] then
    redis.call('SADD', KEYS[3], KEYS[1])
    redis.call('PEXPIRE', KEYS[3], ttl)
    indexed(KEYS[2], KEYS[3], ttl)
  end
end
return value
"""
)


class Outputs:
    """Values by digest, apart for each tenant.

    A process keeps in memory what it kept or got in the last ten minutes, of tasks' values alone. One that was erased
    or has expired can still be got from there for that long; it leaves with the next call after that.

    Args:
        redis: A client made with ``connect``.
        ttl: How long a value is kept after its last use. One of a task is renewed together with the task's claims.
        kind: What they are; values of different kinds are kept apart. Only those of tasks are cached.
        files: Where they are kept as well.
    """

    def __init__(
        self, redis: Redis, ttl: datetime.timedelta, *, kind: str = OUTPUT, files: ValueFiles | None = None
    ) -> None:
        self._redis = redis
        self._kind = kind
        self._files = files
        self._ttl = int(ttl.total_seconds() * 1000)
        self._keep = Script(redis, _KEEP)
        self._get = Script(redis, _GET)
        self._cache: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """By key, oldest first: values, each with when it was had from Redis."""
        self._cached = 0

    async def keep(self, tenant: str, encoded: str, task_id: str = "", *, epoch: int | None = None) -> str:
        """Keep a value.

        Args:
            tenant: Whose value it is.
            encoded: The value as JSON.
            task_id: The task that refers to it, and keeps it for as long as it lives.
            epoch: The tenant's epoch that it was begun under; None: not known.

        Returns:
            Its digest.

        Raises:
            TenantErased: The user was erased since; nothing is kept.
            StoreUnavailable: Neither Redis nor the files can take it.
        """
        reference = hashlib.sha256(encoded.encode()).hexdigest()
        key = keys.output(tenant, self._kind, reference)
        in_redis: Awaitable[object] = self._keep(
            [key, *_owners(tenant, task_id), keys.epoch(tenant)], encoded, self._ttl, known(epoch)
        )
        if self._files is None:
            await in_redis
        else:
            name = _file(task_id, reference)
            in_file = self._files.keep(tenant, name, encoded.encode(), epoch=epoch)
            problem, other = await together(_problem(in_redis), _problem(in_file))
            if problem is not None and other is not None:
                raise problem
            if other is not None:
                await ask(self._redis, "ZADD", keys.UNFILED, 0, f"{tenant} {name}")
        self._remember(key, encoded)
        return reference

    async def get(self, tenant: str, reference: str, task_id: str = "") -> JsonValue:
        """Return a value that was kept.

        Args:
            tenant: Whose value it is.
            reference: Its digest.
            task_id: The task that refers to it, and goes on keeping it where Redis had lost that too.

        Raises:
            StoreUnavailable: It may still be kept where nothing answers.
            ResultExpired: It is no longer kept, so the step that made it has to run again.
        """
        key = keys.output(tenant, self._kind, reference)
        self._expire()
        encoded, _ = self._cache.get(key, (None, 0.0))
        if encoded is None:
            encoded = await self._kept(tenant, _file(task_id, reference), [key, *_owners(tenant, task_id)])
            if encoded is None:
                raise ResultExpired(f"the value {reference[:12]} was too large for the history and is no longer kept")
            self._remember(key, encoded)
        return json.loads(encoded)

    async def clean(self) -> None:
        """Remove the files of values that are gone from Redis with their task, and write those that could not be.

        A file goes once it is older than the time for which a value is kept. What Redis lost stays for that long as
        well, since nothing distinguishes it from what has run out; by then, a live task has renewed its claims.

        Raises:
            StoreUnavailable: Redis does not answer, or the files cannot be used.
        """
        if self._files is None:
            return
        for tenant in await self._files.tenants():
            # Looked at three times within that time, so that two looks may fail.
            old = await self._files.older(tenant, self._ttl / 3000)
            live = [name for name in old if await ask(self._redis, "EXISTS", *self._keepers(tenant, name))]
            if old:
                await self._files.touch(tenant, live)
                await self._files.remove_older(tenant, self._ttl / 1000)
        for line in await ask(self._redis, "ZRANGE", keys.UNFILED, 0, -1):
            tenant, name = line.split(" ")[:2]
            epoch = await self.epoch(tenant)
            content = await ask(self._redis, "GET", self._keepers(tenant, name)[0])
            if content is not None:
                with suppress(TenantErased):
                    await self._files.keep(tenant, name, content.encode(), epoch=epoch)
            await ask(self._redis, "ZREM", keys.UNFILED, line)

    async def epoch(self, tenant: str) -> int:
        """Return a tenant's epoch, for a value that is begun now.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return int(await ask(self._redis, "GET", keys.epoch(tenant)) or 0)

    def _keepers(self, tenant: str, name: str) -> tuple[str, str]:
        """Return the keys that keep a file: the value's own, and the one that lives as long as its task."""
        task, reference = name.split(".")
        return keys.output(tenant, self._kind, reference), keys.task_of(tenant, task)[1]

    async def _kept(self, tenant: str, file: str, places: list[str]) -> str | None:
        """Return a value from Redis, or else from its file, which then puts it back."""
        problem = None
        epoch = None
        try:
            encoded = cast("str | None", await self._get(places, self._ttl))
            if encoded is None:
                epoch = await self.epoch(tenant)
        except StoreUnavailable as error:
            encoded, problem = None, error
        if encoded is not None:
            return encoded
        content = await self._files.read(tenant, file) if self._files else None
        if content is None and problem is not None:
            raise problem
        if content is not None and problem is None:
            with suppress(StoreUnavailable):
                await self._keep([*places, keys.epoch(tenant)], content.decode(), self._ttl, known(epoch))
        return None if content is None else content.decode()

    def _remember(self, key: str, encoded: str) -> None:
        if self._kind == OUTPUT:
            self._forget(key)
            self._cache[key] = encoded, time.monotonic()
            self._cached += len(encoded)
        while self._cached > CACHE_BYTES:
            self._forget(next(iter(self._cache)))
        self._expire()

    def _expire(self) -> None:
        oldest = time.monotonic() - CACHED_FOR
        while self._cache and (first := next(iter(self._cache))) and self._cache[first][1] <= oldest:
            self._forget(first)

    def _forget(self, key: str) -> None:
        encoded, _ = self._cache.pop(key, ("", 0.0))
        self._cached -= len(encoded)


def _owners(tenant: str, task_id: str) -> list[str]:
    """Return the keys that list a value's: the tenant's index, and the keys that live as long as a task."""
    return [keys.index(tenant), *(keys.task(tenant, task_id)[1:] if task_id else ())]


def _file(task_id: str, reference: str) -> str:
    """Return the name of a value's file. Each task has its own, which lives as long as it does."""
    return f"{keys.task_name(task_id)}.{reference}"


async def _problem(call: Awaitable[object]) -> StoreUnavailable | None:
    try:
        await call
    except StoreUnavailable as error:
        return error
    return None
