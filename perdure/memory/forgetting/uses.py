"""Writes the uses that wait to the entries that were used: what is used is not old."""

from collections.abc import Sequence
from functools import reduce
from uuid import uuid4

from perdure.memory.door import Door
from perdure.stores.redis.accesses import Accesses
from perdure.values.entries import Entry


class Uses:
    """The uses of one tenant's entries at a time.

    Args:
        accesses: The uses that wait.
        door: The one way to write them.
    """

    def __init__(self, accesses: Accesses, door: Door) -> None:
        self._accesses = accesses
        self._door = door

    async def write(self, tenant: str, token: str = "") -> int:
        """Write a tenant's uses, each once however often this is tried; return to how many entries.

        Args:
            tenant: Whose.
            token: What the tenant was listed with, to be listed no more; empty: a later pass finds nothing of it.

        Raises:
            LeaseLost: Another writer holds the tenant.
            StoreUnavailable: A store does not answer.
        """
        taken = await self._accesses.take(tenant, f"used:{uuid4().hex}")
        if not taken.uses:
            await self._accesses.written(tenant, token, taken.operation)
            return 0

        def used(entry: Entry, ids: Sequence[str]) -> Entry:
            return reduce(lambda before, one: before.used(taken.uses[one]), ids, entry)

        entries = await self._door.count(tenant, list(taken.uses), used, operation=taken.operation)
        await self._accesses.written(tenant, token, taken.operation)
        return entries
