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


async def test_many_at_once_add_no_more_than_may_be(sessions: SessionWrites) -> None:
    tenant = f"t_{uuid4().hex}"
    asked = [sessions.admit(tenant, "s", [f"{batch}.{one}" for one in range(4)], most=10) for batch in range(8)]
    assert sum(sum(found) for found in await asyncio.gather(*asked)) == 10


async def test_it_is_among_what_is_kept_of_the_user_and_expires(servers: Servers, sessions: SessionWrites) -> None:
    tenant = f"t_{uuid4().hex}"
    await sessions.admit(tenant, "s", ["a"], most=3)
    redis = connect(servers.redis_url)
    try:
        key = keys.written(tenant, "s")
        assert await ask(redis, "ZSCORE", keys.index(tenant), key) is not None
        assert 0 < await ask(redis, "PTTL", key) <= 4 * 86_400_000
    finally:
        await redis.aclose()
