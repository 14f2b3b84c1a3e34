"""Asking Redis: one place where its client's errors become ours."""

from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import RedisError
from redis.maint_notifications import MaintNotificationsConfig

from perdure.errors import StoreUnavailable


async def ask(redis: Redis, *command: str | float) -> Any:
    """Send one command and wait for its answer.

    Raises:
        StoreUnavailable: Redis does not answer, or refuses (out of memory, read-only, loading).
    """
    try:
        return await cast("Any", redis).execute_command(*command)
    except (RedisError, OSError) as error:
        raise StoreUnavailable("redis", type(error).__name__) from error


def connect(url: str, *, timeout: float = 2.0) -> Redis:
    """Make a client that gives up soon and repeats itself once at most.

    The client's own default is ten repeats: minutes in which a caller with a time limit hears nothing.
    Whatever is sent through this one must be safe to be sent twice.

    Args:
        url: Redis's address: ``redis://host:port`` or ``rediss://…``.
        timeout: Seconds that connecting and each answer may take.
    """
    kind: Any = Redis  # The types of its constructors are not written out.
    return kind.from_url(
        url,
        decode_responses=True,
        protocol=3,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        health_check_interval=30,
        retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), 1),
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )
