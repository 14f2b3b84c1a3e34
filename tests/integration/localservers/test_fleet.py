import asyncio
import signal

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from localservers import Server
from tests.conftest import OwnServers, Servers


async def test_one_server_can_be_stopped_started_and_paused(own_servers: OwnServers, servers: Servers) -> None:
    fleet = await own_servers(Server.REDIS)
    assert fleet.addresses.temporal == servers.temporal
    assert fleet.addresses.redis_url != servers.redis_url
    redis = Redis.from_url(fleet.addresses.redis_url, retry=None, socket_timeout=0.3)
    try:
        await redis.set("kept", "yes")

        await fleet.stop(Server.REDIS)
        with pytest.raises(RedisConnectionError):
            await redis.get("kept")
        await fleet.start(Server.REDIS)
        assert await redis.get("kept") == b"yes"

        fleet.child(Server.REDIS).signal(signal.SIGSTOP)
        with pytest.raises(RedisTimeoutError):
            await redis.get("kept")
        fleet.child(Server.REDIS).signal(signal.SIGCONT)
        async with asyncio.timeout(5):
            assert await redis.get("kept") == b"yes"
    finally:
        await redis.aclose()


async def test_redis_keeps_what_it_acknowledged_and_evicts_nothing(own_servers: OwnServers) -> None:
    fleet = await own_servers(Server.REDIS)
    redis = Redis.from_url(fleet.addresses.redis_url, decode_responses=True)
    try:
        settings = await redis.config_get("append*", "maxmemory-policy", "save", "bind")
    finally:
        await redis.aclose()

    assert settings["appendonly"] == "yes"
    assert settings["appendfsync"] == "always"
    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["save"] == ""
    assert settings["bind"] == "127.0.0.1"
