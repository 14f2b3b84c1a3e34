"""Whether Redis keeps what is written to it: read from its settings, if it shows them. Changes none."""

from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from perdure.errors import StoreRefused, StoreUnavailable
from perdure.stores.redis.connection import ask

NEEDED = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
"""A claim on a once effect has to survive a power cut, and nothing may be evicted."""

NEEDED_TOLD = ", ".join(f"{name} {value}" for name, value in NEEDED.items())
"""The same for people."""


async def wrong_settings(redis: Redis) -> dict[str, str] | None:
    """Return the settings that are not as needed, with their values; None: this Redis does not show its settings.

    Managed ones do not: they refuse ``CONFIG GET``, or do not know the command.

    Raises:
        StoreRefused: Redis refuses the login.
        StoreUnavailable: Redis does not answer.
    """
    await ask(redis, "PING")
    found: dict[str, str] = {}
    try:
        for name in NEEDED:
            answer: Any = await ask(redis, "CONFIG", "GET", name)
            found |= answer if isinstance(answer, dict) else dict(zip(answer[::2], answer[1::2], strict=False))
    except StoreRefused:
        return None
    except StoreUnavailable as error:
        if isinstance(error.__cause__, ResponseError):
            return None
        raise
    return {name: found.get(name, "not set") for name, value in NEEDED.items() if found.get(name) != value}
