"""What users consent to, for every write and recall to look at."""

from collections.abc import Iterable

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.leases import Lease
from perdure.tolerance import read_back
from perdure.values.consents import Consent, latest
from perdure.values.entries import Purpose


class RedisConsents:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def of(self, tenant: str) -> dict[Purpose, Consent]:
        """Return the latest statement about each purpose."""
        lines: list[str] = await ask(self._redis, "HVALS", keys.consents(tenant))
        return latest(read_back(Consent, line) for line in lines)

    async def write(self, tenant: str, consents: Iterable[Consent], lease: Lease) -> None:
        """Replace the statements about these purposes, while the tenant's lease is held."""
        fields = (text for one in consents for text in (one.purpose.value, one.model_dump_json()))
        await lease.write("HSET", keys.consents(tenant), *fields)
