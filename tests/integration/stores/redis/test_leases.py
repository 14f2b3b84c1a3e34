"""Leases on the real Redis, through a connection that breaks."""

import asyncio
from urllib.parse import urlsplit

from perdure.stores.redis.connection import connect
from perdure.stores.redis.leases import Leases
from tests.conftest import Servers


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
