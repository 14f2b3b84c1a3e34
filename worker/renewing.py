"""Starting a new journal in this process, which needs its folder: a worker does not start without one."""

import asyncio

from perdure.changes import Actor
from perdure.settings import Addresses, Settings
from perdure.stores.tenant_key import TenantKey
from worker import audits
from worker.wiring.reading import open_reading


async def begin_anew(settings: Settings, addresses: Addresses, by: Actor) -> str:
    """Start a new journal in the folder of the settings; returns its id.

    The audit was in its folder: giving up the journal accepts the loss of the audit.

    Raises:
        InvalidInput: Nothing was lost.
        TenantKeyMissing: The installation's tenant key is not here.
        TenantKeyMismatch: The data was written under another key.
        StoreUnavailable: A store does not answer.
    """
    key = await asyncio.to_thread(TenantKey.load, settings.tenant_key_file)
    async with open_reading(settings, addresses, key) as reading:
        await reading.installation.require(key)
        begun = await reading.whole.begin_journal(key)
    await audits.accept(settings, addresses, by)
    return begun
