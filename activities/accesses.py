"""Recording which memories were recalled, as an activity: some tenants a call."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from temporalio import activity

from perdure.errors import PerdureError, StoreUnavailable
from perdure.memory.forgetting.uses import Uses
from perdure.model import Passed
from perdure.names import Activity
from perdure.stores.redis.accesses import Accesses

_log = structlog.get_logger(__name__)

SECONDS = 20.0
"""After how many a call returns, so that it can be watched."""

_PAGE = 100


class Flushed(Passed):
    """What a call wrote."""

    tenants: int = 0
    entries: int = 0
    more: bool = False


@dataclass(frozen=True, kw_only=True)
class AccessActivities:
    """The activity that writes uses, and what it needs."""

    accesses: Accesses
    uses: Uses

    @activity.defn(name=Activity.FLUSH_ACCESSES)
    async def flush(self) -> Flushed:
        """Write the waiting uses to the entries that were used.

        Raises:
            StoreUnavailable: A store does not answer, and no tenant's uses could be written.
        """
        began, tenants, entries, is_late = time.monotonic(), 0, 0, False
        away: StoreUnavailable | None = None
        listed = await self.accesses.tenants(_PAGE)
        for tenant, token in listed:
            if is_late := time.monotonic() - began > SECONDS:
                break
            try:
                entries += await self.uses.write(tenant, token)
            except PerdureError as problem:
                # Another writer may hold the tenant, or a store fail for it alone; a later pass writes them, and other
                # tenants do not wait for it.
                _log.warning("uses not written", tenant=tenant, problem=str(problem))
                away = problem if isinstance(problem, StoreUnavailable) else away
                await self.accesses.postpone(tenant, token, datetime.now(UTC))
                continue
            tenants += 1
        if away is not None and not tenants:
            raise away
        # Where nothing could be written, another call would do no better.
        return Flushed(tenants=tenants, entries=entries, more=is_late or (tenants > 0 and len(listed) == _PAGE))
