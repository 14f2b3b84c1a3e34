"""What an installation is known by in its stores: the fingerprint of the tenant key its data was written under."""

from redis.asyncio import Redis

from perdure.stores.redis.connection import ask
from perdure.stores.tenant_key import TenantKey

_KEY = "perdure:tenant-key"


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
        await ask(self._redis, "SET", _KEY, key.fingerprint, "NX")
        await self.require(key)

    async def require(self, key: TenantKey) -> None:
        """Check that the data here is this key's, or that there is none yet; claims nothing for the key.

        Raises:
            TenantKeyMismatch: The data was written under another key.
            StoreUnavailable: Redis does not answer.
        """
        if found := await ask(self._redis, "GET", _KEY):
            key.require(found)
