"""Beginning a journal anew in this process, which needs its folder: a worker does not start without one."""

import asyncio

from perdure.settings import Addresses, Settings
from perdure.stores.tenant_key import TenantKey
from worker.wiring.reading import open_reading


async def begin_anew(settings: Settings, addresses: Addresses) -> str:
    """Begin the journal anew in the folder of the settings; returns its id.

    Raises:
        InvalidInput: Nothing was lost.
        TenantKeyMissing: The installation's tenant key is not here.
        TenantKeyMismatch: The data was written under another key.
        StoreUnavailable: A store does not answer.
    """
    key = await asyncio.to_thread(TenantKey.load, settings.tenant_key_file)
    async with open_reading(settings, addresses, key) as reading:
        await reading.installation.require(key)
        return await reading.whole.begin_journal(key)
