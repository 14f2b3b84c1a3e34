"""Starting a store anew, in this process: no worker starts without a journal, or with another model's vectors."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from perdure.errors import StoreLost
from perdure.settings import Addresses, Settings
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import Actor
from perdure.values.losses import Store
from worker import audits
from worker.wiring.reading_services import ReadingServices, open_reading


async def begin_journal(settings: Settings, addresses: Addresses, by: Actor) -> str:
    """Start a new journal in the folder of the settings; returns its id.

    The audit was in its folder: giving up the journal accepts the loss of the audit.

    Raises:
        InvalidInput: Nothing was lost.
        TenantKeyMissing: The installation's tenant key is not here.
        TenantKeyMismatch: The data was written under another key.
        StoreUnavailable: A store does not answer.
    """
    async with _opened(settings, addresses) as (reading, key):
        begun = await reading.whole.begin_journal(key)
    await audits.accept(settings, addresses, by)
    return begun


async def drop_collections(settings: Settings, addresses: Addresses, by: Actor) -> None:
    """Delete the collections in Weaviate, so that the next worker rebuilds them from the journal.

    Raises:
        StoreLost: Redis or the journal lost something: not all would come back.
        TenantKeyMissing: The installation's tenant key is not here.
        TenantKeyMismatch: The data was written under another key.
        StoreUnavailable: A store does not answer.
    """
    async with _opened(settings, addresses) as (reading, _):
        for loss in await reading.whole.examine():
            if loss.store is not Store.WEAVIATE:
                raise StoreLost(loss.store, f"{loss.kind.told}: not all that is deleted would come back")
        await reading.audit.administered("weaviate", why="delete the collections", by=by)
        await reading.longterm.drop()


@asynccontextmanager
async def _opened(settings: Settings, addresses: Addresses) -> AsyncGenerator[tuple[ReadingServices, TenantKey]]:
    """Open the stores under the installation's own tenant key."""
    key = await asyncio.to_thread(TenantKey.load, settings.tenant_key_file)
    async with open_reading(settings, addresses, key) as reading:
        await reading.installation.require(key)
        yield reading, key
