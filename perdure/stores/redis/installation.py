"""What an installation is known by in its stores: its tenant key's fingerprint, and its journal's id."""

import asyncio
from pathlib import Path

from redis.asyncio import Redis

from perdure.errors import JournalMismatch, TenantKeyMismatch
from perdure.stores.journal.log import Journal
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.tenant_key import TenantKey


class Installation:
    """Both, kept in Redis from the first start on: the first worker's are the installation's."""

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

    async def check_journal(self, journal: Journal) -> None:
        """Make sure that this journal is the one that all workers share.

        Raises:
            JournalMismatch: They share another one.
            StoreUnavailable: Redis does not answer, or the journal's folder cannot be used.
        """
        found = await journal.id()
        shared = await self._first(keys.JOURNAL, found)
        if shared != found:
            raise JournalMismatch(shared, found, str(journal.folder))

    async def require_journal(self, journal: Journal) -> None:
        """Check that a journal is the one that all workers share, as far as both have an id; makes none.

        Raises:
            JournalMismatch: They share another one.
            StoreUnavailable: Redis does not answer.
        """
        shared, found = await ask(self._redis, "GET", keys.JOURNAL), await asyncio.to_thread(journal.known_id)
        if shared and found and shared != found:
            raise JournalMismatch(shared, found, str(journal.folder))

    async def _first(self, key: str, value: str) -> str:
        await ask(self._redis, "SET", key, value, "NX")
        return await ask(self._redis, "GET", key)
