"""Asks a server whether it is ready to work."""

import asyncio

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from localservers.commands import LOOPBACK
from localservers.recipes import Server

_QUESTIONS = {
    # While Redis loads its log, it answers with an error.
    Server.REDIS: (b"PING\r\n", b"+PONG"),
    Server.WEAVIATE: (b"GET /v1/.well-known/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", b" 200 "),
}
"""What to send to a server, and what the first line of its answer contains once it is ready."""


class NotReady(Exception):
    """The server does not answer yet, or answers that it is not ready."""


async def probe(server: Server, port: int) -> None:
    """Raise NotReady unless the server on this port answers that it is ready; for Temporal: its default namespace."""
    if server is Server.TEMPORAL:
        try:
            client = await Client.connect(f"{LOOPBACK}:{port}")
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
        except (RPCError, RuntimeError) as error:
            raise NotReady(str(error)) from error
        return
    question, expected = _QUESTIONS[server]
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        writer.write(question)
        answer = await reader.readline()
    finally:
        writer.close()
    if expected not in answer:
        raise NotReady(answer.decode("utf-8", "replace").strip())


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
                        await probe(server, port)
                except (OSError, NotReady, TimeoutError) as error:
                    last = str(error) or type(error).__name__
                else:
                    return
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise NotReady(f"not ready after {within:.0f} s: {last}") from None
