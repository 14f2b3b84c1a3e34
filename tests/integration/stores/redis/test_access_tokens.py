"""Tokens in Redis, and the list by which an erasure finds those of its user."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any, cast
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.access_tokens import AccessTokens
from perdure.stores.redis.connection import ask, connect
from perdure.values.access_tokens import AccessToken, TokenRequest, TokenScope, new_token
from perdure.values.changes import Actor, ActorKind
from tests.conftest import Servers

BY = Actor(kind=ActorKind.PERSON, id="admin")


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    redis = connect(servers.redis_url)
    yield redis
    await redis.aclose()


def made(user_id: str | None) -> AccessToken:
    request = TokenRequest(name="a-token", scopes=(TokenScope.READ,), user_id=user_id)
    return new_token(request, datetime.now(UTC), BY).token


async def test_an_erasure_reads_the_tokens_of_its_user_alone(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, user, other = AccessTokens(redis), f"user {uuid4().hex}", f"other {uuid4().hex}"
    own, others, anybodys = [made(user), made(user)], made(other), made(None)
    for token in (*own, others, anybodys):
        await tokens.add(token)

    async def everybodys() -> list[AccessToken]:
        raise AssertionError("it reads the tokens of everybody")

    with monkeypatch.context() as patched:
        patched.setattr(tokens, "all", everybodys)
        await tokens.remove_of(user)
        await tokens.remove_of(user)
    assert [await tokens.one(token.id) for token in own] == [None, None]
    assert [await tokens.one(token.id) for token in (others, anybodys)] == [others, anybodys]
    assert not await redis.exists(keys.access_tokens_of(user))
    for token in (others, anybodys):
        await tokens.remove(token)


async def test_whenever_an_erasure_meets_a_token_that_is_made_none_is_left_unlisted(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, client = f"user {uuid4().hex}", cast("Any", redis)
    place, token = keys.access_tokens_of(user), made(user)
    sends = client.execute_command
    erased = 0

    async def erased_in_between(*command: Any, **options: Any) -> Any:
        nonlocal erased
        answer = await sends(*command, **options)
        if command[0] in ("HSET", "SADD", "EVALSHA"):
            erased += 1
            for identifier in await sends("SMEMBERS", place):
                await sends("HDEL", keys.ACCESS_TOKENS, identifier)
                await sends("SREM", place, identifier)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(client, "execute_command", erased_in_between)
        await AccessTokens(redis).add(token)
    assert erased, "the control"
    listed = {*await sends("SMEMBERS", place)}
    assert await AccessTokens(redis).one(token.id) is None or token.id in listed


async def test_a_token_that_is_revoked_is_not_listed_any_longer(redis: Redis) -> None:
    tokens, user = AccessTokens(redis), f"user {uuid4().hex}"
    first, second = made(user), made(user)
    for token in (first, second):
        await tokens.add(token)
    await tokens.remove(first)
    assert await ask(redis, "SMEMBERS", keys.access_tokens_of(user)) in ({second.id}, [second.id])
    await tokens.remove(second)
    assert not await redis.exists(keys.access_tokens_of(user))
