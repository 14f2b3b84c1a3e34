"""The connection to Redis: commands, scripts, and the one place where its client's errors become Perdure's."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError
from redis.maint_notifications import MaintNotificationsConfig

from perdure.errors import InvalidInput, StoreRefused, StoreUnavailable, TenantErased

_ERASED = "ERASED"


class _Counting(ConnectionPool):
    """Counts the connections that are opened: a new one may reach a Redis that was restored from an older copy."""

    opened = 0

    def make_connection(self) -> Any:
        connection: Any = super().make_connection()
        connection.register_connect_callback(self.opens)
        return connection

    def opens(self, _: object) -> None:
        self.opened += 1


def opened(redis: Redis) -> int:
    """Return how many connections a client made with ``connect`` has opened."""
    return cast("_Counting", redis.connection_pool).opened


def connect(url: str, *, timeout: float = 2.0) -> Redis:
    """Make a client that gives up soon and retries a command once at most.

    The client's own default is ten retries: minutes in which a caller with a time limit gets no answer.
    Everything sent through this client must be safe to be sent twice.

    Args:
        url: Redis's address: ``redis://host:port`` or ``rediss://…``.
        timeout: Seconds that connecting and each answer may take.

    Raises:
        InvalidInput: The URL is not an address of Redis.
    """
    if not url.startswith(("redis://", "rediss://", "unix://")):
        scheme = url.partition(":")[0]
        raise InvalidInput("redis_url", f"{scheme!r} is not a scheme that Redis has", fix="write redis://host:port")
    pool: Any = _Counting  # The types of its constructors are not written out.
    try:
        pool = pool.from_url(
            url,
            decode_responses=True,
            protocol=3,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            health_check_interval=30,
            retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), 1),
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
        return Redis.from_pool(pool)
    except ValueError as error:
        # Its text may quote the URL, which may hold a password.
        raise InvalidInput("redis_url", "is not an address", fix="write redis://host:port") from error


async def ask(redis: Redis, *command: str | float) -> Any:
    """Send one command and return its answer.

    Raises:
        StoreRefused: Redis refuses the login, or the command to this user.
        StoreUnavailable: Redis does not answer, or cannot (out of memory, read-only, loading).
    """
    with _explained():
        return await cast("Any", redis).execute_command(*command)


class Script:
    """A Lua script, loaded when it is first run.

    Args:
        redis: A client made with ``connect``.
        text: The script.
    """

    def __init__(self, redis: Redis, text: str) -> None:
        self._script: Any = redis.register_script(text)

    async def __call__(self, keys: Sequence[str], *arguments: str | float) -> Any:
        """Run the script and return its answer.

        Raises:
            StoreRefused: Redis refuses the login, or a command to this user.
            StoreUnavailable: Redis does not answer, or cannot.
            TenantErased: The script begins with ``UNERASED``, and the user was erased.
        """
        with _explained():
            return await self._script(keys=list(keys), args=list(arguments))


# A key that expires is indexed in the script that writes it, so none is ever missing. The second's margin: a key that
# is about to expire may still be there when its time has come.
INDEXED = """
local function indexed(index, key, ttl)
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', now - 1000)
  redis.call('ZADD', index, 'GT', now + ttl, key)
  if redis.call('PTTL', index) < ttl + 1000 then redis.call('PEXPIRE', index, ttl + 1000) end
end
"""
"""The Lua function ``indexed(index, key, ttl)``, for scripts that write a tenant's expiring keys."""


# The last key is the tenant's epoch, and the last argument the epoch that the caller began under; empty: not known.
UNERASED = f"""
local begun = tonumber(ARGV[#ARGV])
if begun and begun < tonumber(redis.call('GET', KEYS[#KEYS]) or '0') then
  return redis.error_reply('{_ERASED} since this began')
end
"""
"""What scripts begin with that write for a task: nothing is written once its user was erased."""


def known(epoch: int | None) -> int | str:
    """Return an epoch as scripts take it."""
    return "" if epoch is None else epoch


@contextmanager
def _explained() -> Generator[None]:
    try:
        with _cancellable():
            yield
    except (AuthenticationError, NoPermissionError) as error:
        fix = "correct the user and the password in PERDURE_REDIS_URL, or the user's rights"
        raise StoreRefused("redis", type(error).__name__, fix=fix) from error
    except (RedisError, OSError) as error:
        if isinstance(error, ResponseError) and str(error).startswith(_ERASED):
            raise TenantErased("the user was erased after this began") from error
        raise StoreUnavailable("redis", type(error).__name__) from error


@contextmanager
def _cancellable() -> Generator[None]:
    """End as cancelled if that was asked for meanwhile.

    The client waits by ``asyncio.wait_for``, which in Python 3.11 returns the result of a call that has just ended
    instead: who cancels a loop once, and waits for its end, would wait for ever (python/cpython#86296).
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    try:
        yield
    finally:
        if task and task.cancelling() > before:
            raise asyncio.CancelledError
