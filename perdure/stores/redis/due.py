"""Which tenants have something to forget, and when: an index, so that a sweep costs what is due."""

from datetime import UTC, datetime

from redis.asyncio import Redis

from perdure.stores.redis.connection import ask
from perdure.stores.redis.keys import DUE, RULES


class DueIndex:
    """Each tenant's next due date, in one sorted set."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def lower(self, tenant: str, moment: datetime) -> None:
        """Record that something of a tenant is due at this moment, unless something is due earlier."""
        await ask(self._redis, "ZADD", DUE, "LT", moment.timestamp(), tenant)

    async def set(self, tenant: str, moment: datetime | None) -> None:
        """Record a tenant's next due date exactly; None: nothing is due as things stand.

        Call it under the tenant's lease, so that no write in between is overlooked.
        """
        if moment is None:
            await ask(self._redis, "ZREM", DUE, tenant)
        else:
            await ask(self._redis, "ZADD", DUE, moment.timestamp(), tenant)

    async def tenants(self, *, now: datetime, after: str, limit: int) -> list[str]:
        """Return the tenants with something due, in order of their ids.

        Args:
            now: Up to which moment.
            after: The last tenant that was handled; the sweep's cursor.
            limit: How many at most.
        """
        found: list[str] = await ask(self._redis, "ZRANGEBYSCORE", DUE, "-inf", now.timestamp())
        return sorted(tenant for tenant in found if tenant > after)[:limit]

    async def next(self, tenant: str) -> datetime | None:
        """Return a tenant's next due date."""
        score = await ask(self._redis, "ZSCORE", DUE, tenant)
        return None if score is None else datetime.fromtimestamp(float(score), UTC)

    async def rules(self) -> str:
        """Return the version of the rules that everybody's entries were last dated by; empty: it is not known."""
        return await ask(self._redis, "GET", RULES) or ""

    async def dated_by(self, rules_version: str) -> None:
        """Record that everybody's entries are dated by these rules."""
        await ask(self._redis, "SET", RULES, rules_version)
