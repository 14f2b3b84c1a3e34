"""A call of Redis that is cancelled ends, whatever its client makes of that."""

import asyncio
from collections.abc import Iterable

import pytest
from redis.asyncio.connection import Connection

from perdure.stores.redis.connection import ask
from tests.integration.conftest import Stores


async def test_a_call_that_is_cancelled_as_it_is_sent_ends_as_cancelled(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis = stores.redis
    send = Connection._send_packed_command  # pyright: ignore[reportPrivateUsage]

    async def sent(connection: Connection, command: Iterable[bytes]) -> None:
        await send(connection, command)
        # Its end is not yet known to whoever waits for it.
        asking.cancel()

    await ask(redis, "PING")
    monkeypatch.setattr(Connection, "_send_packed_command", sent)
    asking = asyncio.create_task(ask(redis, "PING"))
    with pytest.raises(asyncio.CancelledError):
        await asking
