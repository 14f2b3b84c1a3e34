"""Behaviour is counted by where it was observed, and is among what is kept of the user."""

from collections.abc import AsyncGenerator

import pytest
from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.observations import Observations
from tests.conftest import Servers


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    client = connect(servers.redis_url)
    yield client
    await client.aclose()


async def test_a_retry_is_counted_once_and_each_behaviour_and_user_by_itself(redis: Redis, tenant: str) -> None:
    seen = Observations(redis).seen
    assert [await seen(tenant, ["book"], place) for place in ("a", "a", "b")] == [1, 1, 2]
    assert await seen(tenant, ["seat"], "a") == 1
    assert await seen(f"{tenant}x", ["book"], "c") == 1


async def test_two_places_are_kept_however_often_it_is_seen(redis: Redis, tenant: str) -> None:
    seen = Observations(redis).seen
    assert [await seen(tenant, ["book"], place) for place in ("a", "b", "c", "d", "a")] == [1, 2, 2, 2, 2]
    [key] = await ask(redis, "KEYS", f"*{tenant}*:observed:*")
    assert await ask(redis, "SCARD", key) == 2


async def test_what_was_seen_there_already_makes_it_last_no_longer(redis: Redis, tenant: str) -> None:
    seen = Observations(redis).seen
    left: list[int] = []
    for places in ("a", "a", "b", "ac"):
        for place in places:
            await seen(tenant, ["book"], place)
        [key] = await ask(redis, "KEYS", f"*{tenant}*:observed:*")
        left.append(await ask(redis, "PTTL", key))
        await ask(redis, "PEXPIRE", key, 60_000)
    assert [one > 60_000 for one in left] == [True, False, True, False]


async def test_it_holds_no_words_expires_and_is_listed_for_erasure(redis: Redis, tenant: str) -> None:
    await Observations(redis).seen(tenant, ["book"], "in Leeds")
    [key] = await ask(redis, "KEYS", f"*{tenant}*:observed:*")
    assert await ask(redis, "ZSCORE", keys.index(tenant), key) is not None
    assert 0 < await ask(redis, "PTTL", key) <= 90 * 86_400_000
    assert "book" not in str(key)
    assert "Leeds" not in str(await ask(redis, "SMEMBERS", key))
