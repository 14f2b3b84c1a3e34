"""Idempotency keys in Redis: what is sent again under one has the id of its first sending, for a day."""

import asyncio
import time
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.stores.redis import idempotency_keys
from perdure.stores.redis.connection import connect
from perdure.stores.redis.idempotency_keys import IdempotencyKeys, Sending
from tests.conftest import Servers
from tests.support.waiting import until


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    redis = connect(servers.redis_url)
    yield redis
    await redis.aclose()


async def test_a_request_has_one_id_however_often_it_is_sent(redis: Redis) -> None:
    sent, key = IdempotencyKeys(redis), uuid4().hex
    known = [one for one in await asyncio.gather(*(sent.sent(key, "ada", b"a") for _ in range(8))) if one]
    [first] = [one for one in known if one.is_first]
    assert [one for one in known if one is not first] == 7 * [first._replace(is_first=False)]
    assert not first.is_done
    await sent.done(key, "ada", b"a", first)
    assert await sent.sent(key, "ada", b"a") == first._replace(is_first=False, is_done=True)
    assert await sent.sent(key, "ada", b"b") is None
    theirs = await sent.sent(key, "kim", b"b")
    assert theirs is not None
    assert theirs.id != first.id


@pytest.mark.slow
async def test_the_same_request_is_sent_first_again_once_its_key_is_forgotten_and_has_another_id_the_next_day(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, key = IdempotencyKeys(redis), uuid4().hex
    monkeypatch.setattr(idempotency_keys, "_KEPT", 1)
    first = await sent.sent(key, "ada", b"a")
    assert first is not None
    assert await sent.sent(key, "ada", b"a") == first._replace(is_first=False), "the control"

    async def again() -> Sending | None:
        return await sent.sent(key, "ada", b"a")

    found = await until(again, lambda one: one is not None and one.is_first, seconds=10)
    assert found is not None
    # A Redis that has lost the key makes the same id of what is sent again.
    assert (found.id == first.id) == (found.first_at.date() == first.first_at.date())
    day = time.time_ns() + 24 * 3_600 * 1_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: day)
    later = await until(again, lambda one: one is not None and one.is_first, seconds=10)
    assert later is not None
    assert later.id != first.id
