"""Leases on the real Redis: kept while their holder lives, lost once it was stopped."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from perdure.errors import LeaseLost, StoreUnavailable
from perdure.stores.redis import keys, leases
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.leases import Leases
from tests.conftest import Servers
from tests.support.waiting import until


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    client = connect(servers.redis_url)
    yield client
    await client.aclose()


async def test_a_lease_whose_answer_was_lost_is_ours_at_once(servers: Servers, tenant: str) -> None:
    """The client asks again by itself; waiting for another holder then would be waiting for ourselves."""
    address = urlsplit(servers.redis_url)
    lost: list[bytes] = []

    async def between(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_redis, to_redis = await asyncio.open_connection(address.hostname, address.port)
        try:
            while asked := await reader.read(65_536):
                to_redis.write(asked)
                answer = await from_redis.read(65_536)
                if answer.startswith(b"*3") and not lost:
                    lost.append(answer)
                    return
                writer.write(answer)
        finally:
            to_redis.close()
            writer.close()

    proxy = await asyncio.start_server(between, "127.0.0.1", 0)
    redis = connect(f"redis://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
    try:
        async with asyncio.timeout(5), Leases(redis, seconds=10).hold(tenant) as lease:
            await lease.require(8)
        assert lost == [b"*3\r\n:1\r\n$1\r\n0\r\n:0\r\n"], "the control: it was taken, and nobody heard"
    finally:
        await redis.aclose()
        proxy.close()
        await proxy.wait_closed()


@pytest.mark.slow
async def test_a_lease_is_kept_while_its_holder_reads_for_longer_than_it_lasts(redis: Redis, tenant: str) -> None:
    async with Leases(redis, seconds=1.0, patience=5.0).hold(tenant) as lease:
        # A journal that takes that long to read.
        await asyncio.to_thread(time.sleep, 2.5)
        fence = await lease.require(0.8)
        fence()
        await lease.write("HSET", keys.consents(tenant), "given", "x")


async def test_a_lease_is_renewed_where_a_writer_needs_more_of_it_than_is_left(redis: Redis, tenant: str) -> None:
    async with Leases(redis, seconds=30).hold(tenant) as lease:
        await ask(redis, "PEXPIRE", keys.lease(tenant), 5_000)
        await lease.require(8)


_HOLDER = """
import asyncio, sys
from perdure.errors import LeaseLost
from perdure.stores.redis.connection import connect
from perdure.stores.redis.leases import Leases

async def hold(url, tenant):
    redis = connect(url)
    async with Leases(redis, seconds=1.0).hold(tenant) as lease:
        fence = await lease.require(0.8)
        print("held", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for check in (lease.require(0.1), lease.write("HSET", "late", "late", "late"), asyncio.to_thread(fence)):
            try:
                await check
                print("done", flush=True)
            except LeaseLost:
                print("lost", flush=True)

asyncio.run(hold(*sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("taken", [True, False], ids=["another took it", "nobody took it"])
async def test_a_process_that_was_stopped_for_longer_than_its_lease_finds_it_lost(
    servers: Servers, redis: Redis, tenant: str, taken: bool
) -> None:
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _HOLDER, servers.redis_url, tenant),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert await holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGSTOP)
        await until(lambda: ask(redis, "EXISTS", keys.lease(tenant)), lambda held: not held)
        async with AsyncExitStack() as other:
            if taken:
                await other.enter_async_context(Leases(redis).hold(tenant))
            holder.send_signal(signal.SIGCONT)
            answers, _ = await holder.communicate(b"\n")
        assert answers.split() == [b"lost", b"lost", b"lost"]
    finally:
        if holder.returncode is None:
            holder.kill()
            await holder.wait()


async def test_a_holder_that_hangs_does_not_keep_its_lease_for_good(
    redis: Redis, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HELD_AT_MOST", 0.5)
    async with Leases(redis, seconds=1.0).hold(tenant) as lease:
        await until(lambda: ask(redis, "EXISTS", keys.lease(tenant)), lambda held: not held)
        with pytest.raises(LeaseLost):
            await lease.require(0.1)


async def test_a_lease_that_is_not_given_back_runs_out(redis: Redis, tenant: str) -> None:
    with pytest.raises(StoreUnavailable):
        async with Leases(redis, seconds=1.0).hold(tenant):
            raise StoreUnavailable("weaviate", "a write may still land")
    assert await ask(redis, "EXISTS", keys.lease(tenant))
    await until(lambda: ask(redis, "EXISTS", keys.lease(tenant)), lambda held: not held)
