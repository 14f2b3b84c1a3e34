"""What a session adds is counted by distinct occurrences, also where several ask at once."""

import asyncio
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest

from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.sessions import SessionWrites
from tests.conftest import Servers


@pytest.fixture
async def sessions(servers: Servers) -> AsyncGenerator[SessionWrites]:
    redis = connect(servers.redis_url)
    yield SessionWrites(redis)
    await redis.aclose()


async def test_a_retry_is_admitted_again_and_counted_once(sessions: SessionWrites) -> None:
    tenant = f"t_{uuid4().hex}"
    assert await sessions.admit(tenant, "s", ["a", "b"], most=3) == [True, True]
    assert await sessions.admit(tenant, "s", ["a", "b"], most=3) == [True, True]
    assert await sessions.admit(tenant, "s", ["c", "d", "a"], most=3) == [True, False, True]
    assert await sessions.admit(tenant, "another", ["d"], most=3) == [True]
    assert await sessions.admit(f"{tenant}x", "s", ["d"], most=3) == [True]
    assert await sessions.admit(tenant, "s", [], most=3) == []


async def test_what_waits_for_a_person_is_counted_apart(sessions: SessionWrites) -> None:
    tenant = f"t_{uuid4().hex}"
    assert await sessions.admit(tenant, "s", ["a", "b"], most=1, held=True) == [True, False]
    assert await sessions.admit(tenant, "s", ["a", "b"], most=1) == [True, False]


async def test_many_at_once_add_no_more_than_may_be(sessions: SessionWrites) -> None:
    tenant = f"t_{uuid4().hex}"
    asked = [sessions.admit(tenant, "s", [f"{batch}.{one}" for one in range(4)], most=10) for batch in range(8)]
    assert sum(sum(found) for found in await asyncio.gather(*asked)) == 10


async def test_it_is_among_what_is_kept_of_the_user_and_expires(servers: Servers, sessions: SessionWrites) -> None:
    tenant = f"t_{uuid4().hex}"
    await sessions.admit(tenant, "s", ["in Leeds"], most=3)
    redis = connect(servers.redis_url)
    try:
        key = keys.written(tenant, "s")
        assert await ask(redis, "ZSCORE", keys.index(tenant), key) is not None
        assert 0 < await ask(redis, "PTTL", key) <= 4 * 86_400_000
        assert "in Leeds" not in str(await ask(redis, "SMEMBERS", key)), "a digest of where it was observed"
    finally:
        await redis.aclose()
