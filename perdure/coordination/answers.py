"""Asking Redis: one place where its client's errors become ours."""

from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

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
