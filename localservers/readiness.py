"""Asks a server whether it is ready to work."""

import asyncio
from collections.abc import Awaitable, Callable

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from localservers.recipes import Server


class NotReady(Exception):
    """The server does not answer yet, or answers that it is not ready."""


async def _exchange(port: int, request: bytes, host: str) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(request)
        await writer.drain()
        return await reader.readline()
    finally:
        writer.close()


async def redis_ready(port: int, host: str = "127.0.0.1") -> None:
    """Raise NotReady unless Redis answers a PING with PONG, which it does not while it loads its log."""
    answer = await _exchange(port, b"PING\r\n", host)
    if not answer.startswith(b"+PONG"):
        raise NotReady(answer.decode("utf-8", "replace").strip())


async def weaviate_ready(port: int, host: str = "127.0.0.1") -> None:
    """Raise NotReady unless Weaviate reports that it is ready."""
    request = f"GET /v1/.well-known/ready HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    answer = await _exchange(port, request.encode(), host)
    if b" 200 " not in answer:
        raise NotReady(answer.decode("utf-8", "replace").strip())


async def temporal_ready(port: int, host: str = "127.0.0.1") -> None:
    """Raise NotReady unless Temporal describes its default namespace."""
    try:
        client = await Client.connect(f"{host}:{port}")
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
    except (RPCError, RuntimeError) as error:
        raise NotReady(str(error)) from error


PROBES: dict[Server, Callable[[int], Awaitable[None]]] = {
    Server.REDIS: redis_ready,
    Server.TEMPORAL: temporal_ready,
    Server.WEAVIATE: weaviate_ready,
}
"""The readiness probe of each server, given its main port."""


async def wait_ready(server: Server, port: int, within: float) -> None:
    """Wait until a server is ready.

    Raises:
        NotReady: With its last answer, once the time is up.
    """
    last = "no answer"
    try:
        async with asyncio.timeout(within):
            while True:
                try:
                    # Not wait_for: in Python 3.11 it swallows a cancellation that arrives as the probe fails.
                    async with asyncio.timeout(5):
                        await PROBES[server](port)
                except (OSError, NotReady, TimeoutError) as error:
                    last = str(error) or type(error).__name__
                else:
                    return
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise NotReady(f"not ready after {within:.0f} s: {last}") from None
