"""Memory as a process without a worker reads it: by itself if it has the tenant key, otherwise by reference."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from perdure.documents import refuse_unknown
from perdure.errors import StoreUnavailable, TenantKeyMissing
from perdure.losses import Store
from perdure.memory.recall.query import Query, RecallResult
from perdure.requests import RecallRequest, Reference
from perdure.settings import Addresses, Settings
from perdure.stores.redis.connection import connect
from perdure.stores.redis.outputs import Outputs
from perdure.stores.tenant_key import TenantKey
from worker.wiring import ANSWERS_KEPT, Reading, open_reading


@asynccontextmanager
async def open_reader(settings: Settings, addresses: Addresses) -> AsyncGenerator[Reading | None]:
    """Open memory for reading in this process; None where it cannot read the tenant key.

    It passes the checks of a worker first, and changes nothing: neither a key nor a collection is made.

    Raises:
        TenantKeyMismatch: The data was written under another key.
        EmbeddingMismatch: The collections were made with another model.
        JournalMismatch: The workers share another journal.
    """
    try:
        key = TenantKey.load(settings.tenant_key_file)
    except TenantKeyMissing:
        yield None
        return
    async with open_reading(settings, addresses, key) as reading:
        await _check(reading, settings.recall_seconds)
        yield reading


async def recall(reading: Reading, request: RecallRequest) -> RecallResult:
    """Answer a question by the service that workers use.

    Raises:
        InvalidInput: The question is malformed.
    """
    refuse_unknown(request)
    query = Query.of(request, tenant=reading.tenant_key.tenant_of(request.user_id), now=datetime.now(UTC))
    return await reading.recall.recall(query)


async def fetch(addresses: Addresses, reference: Reference) -> RecallResult:
    """Fetch the answer that a worker left.

    Raises:
        ResultExpired: It was left more than a few minutes ago.
        StoreUnavailable: Redis does not answer.
    """
    async with contextlib.aclosing(connect(addresses.redis_url)) as redis:
        answer = await Outputs(redis, ANSWERS_KEPT, kind="answer").get(reference.tenant, reference.id)
    return RecallResult.model_validate(answer)


async def _check(reading: Reading, seconds: float) -> None:
    """Refuse data of another key, model or journal; a store that is down, or too slow, leaves the answer degraded."""
    for check in (
        lambda: reading.installation.require(reading.tenant_key),
        lambda: reading.whole.lost(Store.WEAVIATE),
        reading.longterm.open,
    ):
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(seconds):
                await check()
