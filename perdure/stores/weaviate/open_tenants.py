"""Keeps the number of tenants that Weaviate has open within its file limit. Never decides who is remembered.

An active tenant keeps 15 files open in each collection, for good; past the limit of its process, Weaviate serves nobody
any more (measured on 1.35.2: at the 675th user with 20,000 files). An inactive one has none, and its next use makes it
active again: a query takes 7 ms instead of 1, and a recall on a busy machine 106 ms at p95 instead of 30.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol

import structlog
from weaviate.classes.tenants import TenantActivityStatus

from perdure.errors import StoreUnavailable
from perdure.stores.weaviate.connection import Connection, MissingTenant, answered_within
from perdure.stores.weaviate.mapping import KINDS, Kind

_log = structlog.get_logger(__name__)

_FILES_A_TENANT = 15 * len(KINDS)
_SHARE = 0.5
"""Of the limit; the rest is for connections, flushes and compactions, and for tenants that are just being opened or
closed."""
_RESERVE = 200
"""Files that Weaviate has open with no tenant at all, generously."""
_FEWEST = 8

_NOTED = 0.5
"""Seconds for which one note of a tenant's use is enough."""
_AT_ONCE = 100
"""Tenants of one update; Weaviate takes no more."""
_SECONDS = 30.0
"""Seconds that one update or list may take: 300 were made inactive in 0.4 s."""
_ENDS_WITHIN = 2.0
"""Seconds that a process which ends waits for it, also where a store hangs."""


class Active(Protocol):
    """What knows the active tenants across processes."""

    async def used(self, tenant: str, now: datetime, *, most: int) -> list[str]:
        """Record a use, and return the tenants to be made inactive."""
        ...

    async def found(self, tenants: Sequence[str]) -> None:
        """Record tenants that are active."""
        ...


def most_active(files: int) -> int:
    """Return how many users Weaviate may have open at once if it may open this many files."""
    return max(_FEWEST, (int(files * _SHARE) - _RESERVE) // _FILES_A_TENANT)


class OpenTenants:
    """Makes the least recently used tenants inactive.

    Args:
        connection: The connection to Weaviate.
        active: Knows who is active.
        most: How many may be.
    """

    def __init__(self, connection: Connection, active: Active, most: int) -> None:
        self._connection = connection
        self._active = active
        self._most = most
        self._noted: dict[str, float] = {}
        self._running: set[asyncio.Task[None]] = set()

    def used(self, tenant: str) -> None:
        """Note that a tenant is used; what follows from it goes on in the background, since no call may wait for it."""
        now = asyncio.get_running_loop().time()
        if self._noted.get(tenant, 0.0) > now - _NOTED:
            return
        if len(self._noted) > 2 * self._most:
            self._noted.clear()
        self._noted[tenant] = now
        task = asyncio.create_task(self._note(tenant))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def ended(self) -> None:
        """Let what goes on in the background end soon; what does not is found by ``look``."""
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=_ENDS_WITHIN)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def look(self) -> None:
        """Find the tenants that are active without being known to be, after a loss or an error.

        Raises:
            StoreUnavailable: Weaviate or Redis does not answer.
        """
        for kind in KINDS:
            collection = await self._connection.collection(kind)
            async with answered_within(_SECONDS):
                tenants = await collection.tenants.get()
            await self._active.found(
                [name for name, tenant in tenants.items() if tenant.activity_status is TenantActivityStatus.ACTIVE]
            )

    async def _note(self, tenant: str) -> None:
        try:
            idle = await self._active.used(tenant, datetime.now(UTC), most=self._most)
            for start in range(0, len(idle), _AT_ONCE):
                for kind in KINDS:
                    await self._rest(kind, idle[start : start + _AT_ONCE])
        except StoreUnavailable as error:
            # They are looked for again; until then some more tenants are active than should be.
            _log.warning("tenants stay active", problem=str(error))

    async def _rest(self, kind: Kind, tenants: Sequence[str]) -> None:
        collection = await self._connection.collection(kind)
        try:
            async with answered_within(_SECONDS):
                # One that does not exist would keep Weaviate from closing the others.
                known = await collection.tenants.get_by_names(list(tenants))
                active = [name for name, one in known.items() if one.activity_status is TenantActivityStatus.ACTIVE]
                if active:
                    await collection.tenants.deactivate(active)
        except MissingTenant:
            return
