"""An audit that nobody closed ends with its process, also where Redis's client swallows the cancellation."""

import asyncio
from pathlib import Path

from perdure.errors import StoreUnavailable
from perdure.memory.audit.audit import Audit
from perdure.stores.audit.files import FOLDER
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis.audit_heads import AuditHeads, KnownHead
from perdure.stores.redis.connection import connect
from perdure.stores.tenant_key import TenantKey


class _Swallowing(AuditHeads):
    """Heads whose client answers a cancellation with an error of its own."""

    def __init__(self) -> None:
        super().__init__(connect("redis://127.0.0.1:1"))
        self.asked = asyncio.Event()

    async def all(self) -> list[KnownHead]:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise StoreUnavailable("redis", "the connection was closed") from None
        return []


async def test_a_cancellation_ends_it_even_if_it_is_swallowed(tmp_path: Path) -> None:
    key = TenantKey(bytes(range(32)))
    await JournalMarks(tmp_path).begin(key.fingerprint)
    heads, before = _Swallowing(), asyncio.all_tasks()
    audit = Audit(tmp_path / FOLDER, key, heads)
    await audit.ready()
    await heads.asked.wait()
    # Tests before this one may have left others of their own.
    begun = asyncio.all_tasks() - before
    [telling] = [one for one in begun if getattr(one.get_coro(), "__qualname__", "") == "Audit._keep_telling"]
    telling.cancel()
    ended, _ = await asyncio.wait({telling}, timeout=5)
    assert ended == {telling}
    await audit.close()
