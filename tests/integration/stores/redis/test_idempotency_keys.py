"""Idempotency keys in Redis: what is sent again under one has the id of its first sending, for a day."""

import asyncio
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.stores.redis import idempotency_keys
from perdure.stores.redis.connection import connect
from perdure.stores.redis.idempotency_keys import IdempotencyKeys
from tests.conftest import Servers
from tests.support.waiting import until


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    redis = connect(servers.redis_url)
    yield redis
    await redis.aclose()


async def test_a_request_has_one_id_however_often_it_is_sent(redis: Redis) -> None:
    sent, key = IdempotencyKeys(redis), uuid4().hex
    first, *others = await asyncio.gather(*(sent.sent(key, "ada", b"a") for _ in range(8)))
    assert first is not None
    assert {*others} == {first}
    assert not first.is_done
    await sent.done(key, "ada", b"a", first.id)
    assert await sent.sent(key, "ada", b"a") == (first.id, True)
    assert await sent.sent(key, "ada", b"b") is None
    theirs = await sent.sent(key, "kim", b"b")
    assert theirs is not None
    assert theirs.id != first.id


async def test_the_same_request_is_another_one_once_its_key_is_forgotten(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, key = IdempotencyKeys(redis), uuid4().hex
    monkeypatch.setattr(idempotency_keys, "_KEPT", 1)
    first = await sent.sent(key, "ada", b"a")
    assert await sent.sent(key, "ada", b"a") == first, "the control"
    await until(lambda: sent.sent(key, "ada", b"a"), lambda again: again is not None and again != first, seconds=10)
