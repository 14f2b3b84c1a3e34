"""The deletion log on the real Redis: whole after an attempt that ended half way."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.errors import StoreUnavailable
from perdure.stores.redis import keys
from perdure.stores.redis.connection import connect
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.leases import Leases
from perdure.values.changes import Deletion
from tests.conftest import Servers


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    redis = connect(servers.redis_url)
    yield redis
    await redis.aclose()


async def test_a_line_is_never_there_without_its_run_knowing_the_tenant(redis: Redis, tenant: str) -> None:
    """Whoever finds its lines written does not write them again, so what is missing then stays missing."""
    deletions, sweep = Deletions(redis), uuid4().hex
    line = Deletion(id="mem_1", at=datetime(2026, 5, 1, tzinfo=UTC), reason="expired", sweep=sweep)
    # Of another type, the sweep's key refuses: the attempt ends between its two writes.
    await redis.set(keys.swept(sweep), "in the way")
    async with Leases(redis).hold(tenant) as lease:
        with pytest.raises(StoreUnavailable):
            await deletions.write(tenant, [line], lease)
        assert await deletions.all(tenant) == []
        await redis.delete(keys.swept(sweep))
        await deletions.write(tenant, [line], lease)
    assert await deletions.tenants_of(sweep, after="", limit=5) == [tenant]
    assert await deletions.all(tenant) == [line]
