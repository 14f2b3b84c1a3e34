"""What is read of Redis' own settings, and that one which does not show them is no error."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from localservers import Server, find_all
from localservers.commands import LOOPBACK, PORTS, choose
from perdure.errors import StoreUnavailable
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.durability import NEEDED, wrong_settings
from tests.conftest import clean_settings
from tests.support.waiting import until
from worker.upkeep import warn_of_settings

AS_NEEDED = [part for name, value in NEEDED.items() for part in (f"--{name}", value)]

Starting = Callable[..., AbstractAsyncContextManager[Redis]]


@pytest.fixture
def redis_with(tmp_path: Path) -> Starting:
    """Start a Redis of its own with these options."""

    @asynccontextmanager
    async def start(*options: str) -> AsyncGenerator[Redis]:
        binary = find_all(clean_settings(tmp_path), print)[Server.REDIS].path
        port = str(choose(PORTS[Server.REDIS], {}, say=print)["redis"])
        arguments = ("--bind", LOOPBACK, "--port", port, "--dir", str(tmp_path), "--save", "")
        process = await asyncio.create_subprocess_exec(
            binary, *arguments, *options, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        redis = connect(f"redis://{LOOPBACK}:{port}")

        async def answers() -> bool:
            try:
                return bool(await ask(redis, "PING"))
            except StoreUnavailable:
                return False

        try:
            await until(answers, bool)
            yield redis
        finally:
            await redis.aclose()
            process.kill()
            await process.wait()

    return start


async def test_settings_are_compared_with_what_is_needed(redis_with: Starting) -> None:
    async with redis_with(*AS_NEEDED) as redis:
        assert await wrong_settings(redis) == {}
        await ask(redis, "CONFIG", "SET", "appendfsync", "everysec")
        assert await wrong_settings(redis) == {"appendfsync": "everysec"}


async def test_one_that_refuses_or_does_not_know_the_command_shows_nothing(redis_with: Starting) -> None:
    async with redis_with(*AS_NEEDED) as redis:
        await ask(redis, "ACL", "SETUSER", "default", "-config")
        assert await wrong_settings(redis) is None
    async with redis_with("--rename-command", "CONFIG", "") as redis:
        assert await wrong_settings(redis) is None


async def test_a_worker_warns_of_what_may_be_lost(redis_with: Starting) -> None:
    told: list[list[str]] = []
    async with redis_with(*AS_NEEDED) as redis:
        address = redis.connection_pool.connection_kwargs
        url = f"redis://{address['host']}:{address['port']}"
        for command in (
            ("PING",),
            ("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"),
            ("ACL", "SETUSER", "default", "-config"),
        ):
            await ask(redis, *command)
            with capture_logs() as logs:
                await warn_of_settings(url)
            told.append([f"{one['event']} {one.get('settings', '')}" for one in logs])
    assert told == [
        [],
        ["Redis may lose claims, and effects may happen twice {'maxmemory-policy': 'allkeys-lru'}"],
        ["Redis does not show its settings: nobody checked that it loses no claims "],
    ]
    with capture_logs() as logs:
        await warn_of_settings(f"redis://{LOOPBACK}:9")
    assert logs == []


async def test_one_that_does_not_answer_is_an_error() -> None:
    redis = connect(f"redis://{LOOPBACK}:9")
    with pytest.raises(StoreUnavailable):
        await wrong_settings(redis)
    await redis.aclose()
