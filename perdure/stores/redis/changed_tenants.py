"""The tenants with memories written since their consolidation, so that a pass costs what is new. Compares nothing."""

from datetime import UTC, datetime

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask

# What was written meanwhile has raised the score, and is for the next pass.
_DONE = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end
"""


class ChangedTenants:
    """The tenants to be consolidated.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._done = Script(redis, _DONE)

    async def add(self, tenant: str, now: datetime) -> None:
        """Note that memories of a tenant were written.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        await ask(self._redis, "ZADD", keys.CHANGED, "GT", _score(now), tenant)

    async def tenants(self, limit: int) -> list[tuple[str, str]]:
        """Return tenants with something new, each with a token for ``done``; those that wait longest first.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        found = await ask(self._redis, "ZRANGE", keys.CHANGED, 0, limit - 1, "WITHSCORES")
        return [(tenant, f"{score:.0f}") for tenant, score in found]

    async def done(self, tenant: str, token: str) -> None:
        """Remove a tenant from the list, unless it was written to since it was listed.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        await self._done([keys.CHANGED], tenant, token)

    async def since(self) -> datetime | None:
        """Return since when memories count as new; None: all do.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        score = await ask(self._redis, "GET", keys.CONSOLIDATED)
        return datetime.fromtimestamp(int(score) / 1000, UTC) if score else None

    async def consolidated(self, began: datetime) -> None:
        """Record that a pass which began then has visited everybody.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        await ask(self._redis, "SET", keys.CONSOLIDATED, _score(began))


def _score(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
