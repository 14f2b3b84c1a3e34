"""Replies piece by piece: read from anywhere, capped, gone by themselves, and never written for who was erased."""

import asyncio
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from activities.reply_stream import streamed
from perdure.errors import StoreRefused, TenantErased
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.reply_streams import KEPT, MOST_PIECES, ReplyStreams
from perdure.values.chats import BEGINNING, PieceKind, ReplyPiece, ReplyPlace
from tests.conftest import Servers


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    client = connect(servers.redis_url)
    yield client
    await client.aclose()


def reply(tenant: str) -> ReplyPlace:
    return ReplyPlace(tenant=tenant, task_id=f"t{uuid4().hex[:8]}", message="m")


def piece(number: int, text: str = "x") -> ReplyPiece:
    return ReplyPiece(turn=1, attempt="a", number=number, kind=PieceKind.TEXT, text=text)


@pytest.mark.slow
async def test_pieces_are_read_in_their_order_from_any_place(redis: Redis, tenant: str) -> None:
    streams, place = ReplyStreams(redis), reply(tenant)
    assert await streams.read(place) == ([], BEGINNING)
    reading = asyncio.create_task(streams.read(place))
    await streams.add(place, piece(0, "ö {"))
    first, at = await reading
    if not first:
        first, at = await streams.read(place, at)
    assert [one.text for one in first] == ["ö {"]
    for number in (1, 2):
        await streams.add(place, piece(number))
    assert [one.number for one in (await streams.read(place, at))[0]] == [1, 2]
    assert [one.number for one in (await streams.read(place))[0]] == [0, 1, 2]
    assert (await streams.read(place.changed(message="n")))[0] == []
    assert (await streams.read(place.changed(tenant=f"{tenant}x")))[0] == []


async def test_a_piece_of_another_form_is_passed_over(redis: Redis, tenant: str) -> None:
    streams, place = ReplyStreams(redis), reply(tenant)
    key = keys.tokens(tenant, place.task_id, "m")
    await ask(redis, "XADD", key, "*", "piece", '{"turn": "later"}')
    await ask(redis, "XADD", key, "*", "other", "1")
    await streams.add(place, piece(0))
    assert [one.number for one in (await streams.read(place))[0]] == [0]


@pytest.mark.slow
async def test_it_is_capped_and_goes_by_itself_and_is_among_what_is_kept_of_the_user(redis: Redis, tenant: str) -> None:
    streams, place = ReplyStreams(redis), reply(tenant)
    key = keys.tokens(tenant, place.task_id, "m")
    for first in range(0, MOST_PIECES + 500, 50):
        await asyncio.gather(*(streams.add(place, piece(number)) for number in range(first, first + 50)))
    assert MOST_PIECES <= await ask(redis, "XLEN", key) < MOST_PIECES + 200
    assert 0 < await ask(redis, "PTTL", key) <= KEPT.total_seconds() * 1000
    assert await ask(redis, "ZSCORE", keys.index(tenant), key)


async def test_nothing_is_kept_for_a_user_who_was_erased_since(redis: Redis, tenant: str) -> None:
    streams, place = ReplyStreams(redis), reply(tenant)
    await ask(redis, "SET", keys.epoch(tenant), 3)
    with pytest.raises(TenantErased):
        await streams.add(place, piece(0), epoch=2)
    assert (await streams.read(place))[0] == []
    await streams.add(place, piece(0), epoch=3)
    assert len((await streams.read(place))[0]) == 1


async def test_a_turn_goes_on_where_redis_refuses_to_let_anybody_read_along(
    redis: Redis, servers: Servers, tenant: str
) -> None:
    user = uuid4().hex
    await ask(redis, "ACL", "SETUSER", user, "on", ">right", "+@all", "-@scripting", "~*")
    refused = connect(f"redis://{user}:right@{urlsplit(servers.redis_url).netloc}")
    try:
        with pytest.raises(StoreRefused):
            await ReplyStreams(refused).add(reply(tenant), piece(0))
        async with streamed(ReplyStreams(refused), reply(tenant), 1, epoch=None) as say:
            say("a reply")
    finally:
        await refused.aclose()
        await ask(redis, "ACL", "DELUSER", user)
