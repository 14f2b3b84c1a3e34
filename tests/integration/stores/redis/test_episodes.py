from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.errors import StoreUnavailable
from perdure.stores.redis import keys as of_tenant
from perdure.stores.redis.connection import connect
from perdure.stores.redis.episodes import Episodes
from perdure.stores.redis.promotions import Promotions
from perdure.values.episodes import EPISODES_KEPT, Episode, EpisodeKind
from tests.conftest import Servers

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    redis = connect(servers.redis_url)
    yield redis
    await redis.aclose()


@pytest.fixture
def tenant() -> str:
    return f"t_{uuid4().hex}"


def episode(number: int, importance: float = 0.5) -> Episode:
    return Episode(
        id=f"step-{number}",
        kind=EpisodeKind.TOOL,
        text=f"did {number}",
        importance=importance,
        at=NOW + timedelta(seconds=number),
    )


def said(number: int) -> Episode:
    return episode(number).changed(kind=EpisodeKind.TURN)


async def keys_of(redis: Redis, tenant: str) -> list[str]:
    client: Any = redis
    found = client.scan_iter(match=f"*{tenant}*:episodes:*", count=10_000)
    return [key async for key in found]


async def test_an_episode_is_kept_once(redis: Redis, tenant: str) -> None:
    episodes = Episodes(redis)
    assert await episodes.append(tenant, "s", episode(1))
    assert not await episodes.append(tenant, "s", episode(1))
    assert await episodes.told(tenant, "s", recent=10) == [episode(1)]


async def test_they_are_read_by_recency_and_by_importance(redis: Redis, tenant: str) -> None:
    episodes = Episodes(redis)
    for number, importance in [(3, 0.1), (1, 0.9), (2, 0.5)]:
        await episodes.append(tenant, "s", episode(number, importance))
    assert [one.id for one in await episodes.told(tenant, "s", recent=2)] == ["step-3", "step-2"]
    assert [one.id for one in await episodes.told(tenant, "s", important=2)] == ["step-1", "step-2"]
    both = await episodes.told(tenant, "s", recent=1, important=2)
    assert [one.id for one in both] == ["step-3", "step-1", "step-2"]
    assert [one.id for one in await episodes.told(tenant, "s", recent=2, important=2)] == ["step-3", "step-2", "step-1"]
    assert await episodes.told(tenant, "s") == []


async def test_of_equally_important_ones_the_newest_are_given(redis: Redis, tenant: str) -> None:
    episodes = Episodes(redis)
    for number in (12, 9, 100, 8):
        await episodes.append(tenant, "s", episode(number, 0.8))
    await episodes.append(tenant, "s", episode(1000, 0.799))
    assert [one.id for one in await episodes.told(tenant, "s", important=2)] == ["step-100", "step-12"]


async def test_sessions_and_tenants_are_apart(redis: Redis, tenant: str) -> None:
    episodes = Episodes(redis)
    await episodes.append(tenant, "s", episode(1))
    assert await episodes.told(tenant, "other", recent=10) == []
    assert await episodes.told(f"{tenant}x", "s", recent=10) == []


@pytest.mark.slow
async def test_a_session_is_bounded_and_the_oldest_go(redis: Redis, tenant: str) -> None:
    episodes = Episodes(redis)
    for number in range(EPISODES_KEPT + 5):
        assert await episodes.append(tenant, "s", episode(number))
    kept = await episodes.told(tenant, "s", recent=2 * EPISODES_KEPT)
    assert [one.id for one in kept] == [f"step-{number}" for number in range(EPISODES_KEPT + 4, 4, -1)]
    assert len(await episodes.told(tenant, "s", important=2 * EPISODES_KEPT)) == EPISODES_KEPT
    # What was evicted and comes again, late, evicts itself and nothing else.
    assert not await episodes.append(tenant, "s", episode(2))
    assert await episodes.told(tenant, "s", recent=2 * EPISODES_KEPT) == kept


async def test_every_key_expires_within_four_days_and_is_read_for_one(redis: Redis, tenant: str) -> None:
    episodes, client = Episodes(redis), cast("Any", redis)
    await episodes.append(tenant, "session", said(1))
    keys = [*await keys_of(redis, tenant), of_tenant.sessions(tenant)]
    assert len(keys) == 5
    for key in keys:
        left = await client.ttl(key)
        assert 4 * 86_400 - 400 < left <= 4 * 86_400
        assert ":session:" not in key
    for left, readable in [(3 * 86_400 + 60, True), (3 * 86_400 - 1, False)]:
        for key in keys:
            await client.expire(key, left)
        assert bool(await episodes.told(tenant, "session", recent=1)) == readable
        assert bool(await episodes.told(tenant, "session", important=1)) == readable
    assert (await Promotions(redis).take(tenant, "session", 1)).episodes == (said(1),), "it can still be promoted"


@pytest.mark.slow
async def test_what_waits_to_be_promoted_goes_last(redis: Redis, tenant: str) -> None:
    episodes, promotions = Episodes(redis), Promotions(redis)
    await episodes.append(tenant, "s", said(-1))
    for number in range(EPISODES_KEPT + 5):
        assert await episodes.append(tenant, "s", episode(number))
    kept = await episodes.told(tenant, "s", recent=2 * EPISODES_KEPT)
    assert (len(kept), kept[-1]) == (EPISODES_KEPT, said(-1))
    assert (await promotions.take(tenant, "s", 10)).ids == ("step--1",)
    await promotions.promoted(tenant, "s", ("step--1",))
    await episodes.append(tenant, "s", episode(EPISODES_KEPT + 5))
    assert said(-1) not in await episodes.told(tenant, "s", recent=2 * EPISODES_KEPT)


async def test_an_attempt_that_ends_late_takes_nothing_from_the_next_one(redis: Redis, tenant: str) -> None:
    episodes, promotions = Episodes(redis), Promotions(redis)
    for number in range(4):
        await episodes.append(tenant, "s", said(number))
    late = (await promotions.take(tenant, "s", 2)).ids
    await promotions.promoted(tenant, "s", (await promotions.take(tenant, "s", 2)).ids)
    taken = (await promotions.take(tenant, "s", 2)).ids
    assert not {*late} & {*taken}
    await promotions.promoted(tenant, "s", late)
    assert (await promotions.take(tenant, "s", 2)).ids == taken, "whoever dies now leaves them to the next one"


@pytest.mark.slow
async def test_what_waits_is_bounded_too(redis: Redis, tenant: str) -> None:
    episodes = Episodes(redis)
    for number in range(EPISODES_KEPT + 2):
        await episodes.append(tenant, "s", said(number))
    kept = await episodes.told(tenant, "s", recent=2 * EPISODES_KEPT)
    assert (len(kept), kept[-1]) == (EPISODES_KEPT, said(2))


async def test_a_duplicate_does_not_lengthen_a_sessions_life(redis: Redis, tenant: str) -> None:
    episodes = Episodes(redis)
    await episodes.append(tenant, "s", episode(1))
    keys = await keys_of(redis, tenant)
    for key in keys:
        await redis.expire(key, 100)
    await episodes.append(tenant, "s", episode(1))
    assert all([await redis.ttl(key) <= 100 for key in keys])
    await episodes.append(tenant, "s", episode(2))
    assert all([await redis.ttl(key) > 100 for key in keys])


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "control"])
async def test_what_is_removed_is_not_written_by_a_late_or_second_attempt(
    redis: Redis, tenant: str, *, removed: bool
) -> None:
    episodes = Episodes(redis)
    await episodes.append(tenant, "s", said(1))
    if removed:
        await episodes.remove(tenant, "s", [said(1).id, said(2).id])
        await episodes.remove(tenant, "other", [said(3).id])
    for number in (1, 2):
        await episodes.append(tenant, "s", said(number))
    await episodes.append(tenant, "other", said(3))
    left = [] if removed else [said(2), said(1)]
    assert await episodes.told(tenant, "s", recent=10) == left
    assert await episodes.told(tenant, "other", recent=10) == ([] if removed else [said(3)])
    assert sum(map(len, (await episodes.everything(tenant)).values())) == (0 if removed else 3)
    assert await episodes.get(tenant, "s", said(1).id) == (None if removed else said(1))
    for key in await keys_of(redis, tenant):
        assert 0 < await redis.pttl(key) <= timedelta(days=4).total_seconds() * 1_000


async def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    redis = connect("redis://127.0.0.1:9")
    with pytest.raises(StoreUnavailable, match="redis"):
        await Episodes(redis).append("t_1", "s", episode(1))
    with pytest.raises(StoreUnavailable, match="redis"):
        await Episodes(redis).told("t_1", "s", recent=1)
    await redis.aclose()
