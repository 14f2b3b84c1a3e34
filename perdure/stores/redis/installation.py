"""Which tenant key an installation's data was written under."""

from pathlib import Path

from redis.asyncio import Redis

from perdure.errors import TenantKeyMismatch
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.tenant_key import TenantKey


class Installation:
    """The key's fingerprint, kept in Redis from the first start on: the first worker's is the installation's."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def check(self, key: TenantKey) -> None:
        """Make sure that the data here is this key's.

        Raises:
            TenantKeyMismatch: The data was written under another key.
            StoreUnavailable: Redis does not answer.
        """
        key.require(await self._first(keys.TENANT_KEY, key.fingerprint))

    async def require(self, key: TenantKey) -> None:
        """Check that the data here is this key's, or that there is none yet; claims nothing for the key.

        Raises:
            TenantKeyMismatch: The data was written under another key.
            StoreUnavailable: Redis does not answer.
        """
        if found := await ask(self._redis, "GET", keys.TENANT_KEY):
            key.require(found)

    async def require_none(self, path: Path) -> None:
        """Check that no data was written under any key, so that the first key may be made.

        Args:
            path: Where the key would be made.

        Raises:
            TenantKeyMismatch: There is data, and its key is not here.
            StoreUnavailable: Redis does not answer.
        """
        if found := await ask(self._redis, "GET", keys.TENANT_KEY):
            raise TenantKeyMismatch(
                f"the data was written under the tenant key {found}, and {path} is missing: "
                "copy it from another worker of this installation, or restore its backup"
            )

    async def _first(self, key: str, value: str) -> str:
        await ask(self._redis, "SET", key, value, "NX")
        return await ask(self._redis, "GET", key)
