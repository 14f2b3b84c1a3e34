"""What an installation is known by in its stores: the fingerprint of the tenant key its data was written under."""

from redis.asyncio import Redis

from perdure.stores.redis.connection import ask
from perdure.stores.redis.keys import TENANT_KEY
from perdure.stores.tenant_key import TenantKey


class Installation:
    """The fingerprint, kept in Redis from the first start on."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def check(self, key: TenantKey) -> None:
        """Make sure that the data here is this key's; the first key to come is the one.

        Raises:
            TenantKeyMismatch: The data was written under another key.
            StoreUnavailable: Redis does not answer.
        """
        await ask(self._redis, "SET", TENANT_KEY, key.fingerprint, "NX")
        key.require(await ask(self._redis, "GET", TENANT_KEY))
