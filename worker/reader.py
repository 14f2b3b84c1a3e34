"""Memory as a process without a worker reads it: by itself if it has the tenant key, otherwise by reference."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from perdure.documents import refuse_unknown
from perdure.errors import StoreUnavailable, TenantKeyMissing
from perdure.memory.recall.query import Query, RecallResult
from perdure.requests import RecallRequest, Reference
from perdure.settings import Addresses, Settings
from perdure.stores.redis.connection import connect
from perdure.stores.redis.outputs import Outputs
from perdure.stores.tenant_key import TenantKey
from perdure.together import together
from worker.wiring import RESULTS_KEPT, Reading, open_reading


class Reader:
    """Recalls in this process, and checks that it belongs to the installation until each store has answered.

    Args:
        reading: The services.
        seconds: How long a check may take.
    """

    def __init__(self, reading: Reading, seconds: float) -> None:
        self._reading = reading
        self._seconds = seconds
        self.unanswered: list[Callable[[], Awaitable[object]]] = [
            lambda: reading.installation.require(reading.tenant_key),
            reading.whole.examine,
            reading.longterm.open,
        ]
        """The checks that a store has not answered yet."""

    async def recall(self, request: RecallRequest) -> RecallResult:
        """Recall by the service that workers use.

        What no store has answered yet is checked beside it: a store that is down, or too slow, costs no time and leaves
        the result degraded.

        Raises:
            InvalidInput: The question is malformed.
            TenantKeyMismatch: The data was written under another key.
            EmbeddingMismatch: The collections were made with another model.
            JournalMismatch: The workers share another journal.
        """
        refuse_unknown(request)
        tenant = self._reading.tenant_key.tenant_of(request.user_id)
        query = Query.of(request, tenant=tenant, now=datetime.now(UTC))
        result, _ = await together(self._reading.recall.recall(query), self._check_all())
        return result

    async def _check_all(self) -> None:
        await together(*map(self._check, self.unanswered))

    async def _check(self, check: Callable[[], Awaitable[object]]) -> None:
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(self._seconds):
                await check()
            # Another recall may have had the same answer meanwhile.
            self.unanswered = [one for one in self.unanswered if one is not check]


@asynccontextmanager
async def open_reader(settings: Settings, addresses: Addresses) -> AsyncGenerator[Reader | None]:
    """Open memory for reading in this process; None where it cannot read the tenant key.

    It changes nothing: neither a key nor a collection is made.
    """
    try:
        key = TenantKey.load(settings.tenant_key_file)
    except TenantKeyMissing:
        yield None
        return
    async with open_reading(settings, addresses, key) as reading:
        yield Reader(reading, settings.recall_seconds)


async def fetch(addresses: Addresses, reference: Reference) -> RecallResult:
    """Fetch the result that a worker left.

    Raises:
        ResultExpired: It was left more than a few minutes ago.
        StoreUnavailable: Redis does not answer.
    """
    async with contextlib.aclosing(connect(addresses.redis_url)) as redis:
        found = await Outputs(redis, RESULTS_KEPT, kind="result").get(reference.tenant, reference.id)
    return RecallResult.model_validate(found)
