"""A limit has as many places as it says, and each ends by itself."""

from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.errors import TenantErased
from perdure.stores.redis import keys
from perdure.stores.redis.call_slots import CallSlots
from perdure.stores.redis.connection import ask, connect
from tests.conftest import Servers
from tests.support.waiting import until


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    client = connect(servers.redis_url)
    yield client
    await client.aclose()


@pytest.mark.parametrize("of_user", [True, False], ids=["of a user", "of all"])
async def test_no_more_calls_have_a_place_than_there_are(redis: Redis, tenant: str, of_user: bool) -> None:
    places, limit, of = CallSlots(redis), f"tool-{uuid4().hex}", tenant if of_user else ""
    assert [await places.take(limit, call, 2, 60, tenant=of) for call in ("a", "b", "a")] == [0, 0, 0]
    assert 59 < await places.take(limit, "c", 2, 60, tenant=of) <= 60
    await places.release(limit, "a", tenant=of)
    assert await places.take(limit, "c", 2, 60, tenant=of) == 0
    assert await places.take(limit, "a", 2, 60, tenant=of) > 0
    assert await places.take(limit, "a", 2, 60, tenant=f"{tenant}x") == 0, "another user's are others"


async def test_a_place_that_nobody_gives_back_ends(redis: Redis) -> None:
    places, limit = CallSlots(redis), f"tool-{uuid4().hex}"
    assert await places.take(limit, "killed", 1, 0.3) == 0
    left = await places.take(limit, "next", 1, 60)
    assert 0 < left <= 0.3
    assert await until(lambda: places.take(limit, "next", 1, 60), lambda found: found == 0) == 0
    assert 0 < await ask(redis, "PTTL", keys.places("", limit)) <= 60_000


async def test_a_users_places_go_with_the_user(redis: Redis, tenant: str) -> None:
    places, limit = CallSlots(redis), f"tool-{uuid4().hex}"
    assert await places.take(limit, "a", 1, 60, tenant=tenant, epoch=0) == 0
    assert await ask(redis, "ZSCORE", keys.index(tenant), keys.places(tenant, limit)) is not None
    await redis.set(keys.epoch(tenant), 1)
    with pytest.raises(TenantErased):
        await places.take(limit, "b", 2, 60, tenant=tenant, epoch=0)
