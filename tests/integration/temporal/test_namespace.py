"""A namespace that lacks the search attributes is prepared by the workers themselves, however many start at once."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from perdure.errors import NamespaceUnusable
from perdure.names import Attribute
from perdure.temporal import namespace
from perdure.temporal.namespace import command, missing, prepare
from tests.support.plain_temporal import plain_temporal
from tests.support.waiting import until

COUNTED = "CountWorkflowExecutions"
REGISTERED = "OperatorAddSearchAttributes"


async def can_be_asked_for(client: Client) -> bool:
    """Return whether Temporal knows the attributes by now, as a search for them does."""
    try:
        await client.count_workflows(" AND ".join(f"{one.value} = 'x'" for one in Attribute))
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        return False
    return True


async def register(client: Client) -> None:
    """Register the attributes as an operator does."""
    wanted = {one.value: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD for one in Attribute}
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace="default", search_attributes=wanted)
    )


class Relay:
    """A connection to a server through which its answers can be held back, until it is cut."""

    def __init__(self, address: str) -> None:
        self._to = address.split(":")
        self._passes = asyncio.Event()
        self._passes.set()
        self._open: list[asyncio.StreamWriter] = []

    async def start(self, stack: AsyncExitStack) -> str:
        """Listen until the stack ends; return the address."""
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        stack.callback(self.cut)
        stack.callback(server.close)
        return f"127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def hold(self) -> None:
        """Let no answer through any more."""
        self._passes.clear()

    def cut(self) -> None:
        """End all connections, with the answers that were held back; new ones are served again."""
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()
        self._passes.set()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asks = await asyncio.open_connection(*self._to)
        self._open += [writer, asks]
        await asyncio.gather(self._pass(reader, asks), self._pass(answers, writer, held=True), return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, held: bool = False) -> None:
        while data := await reader.read(65_536):
            if held:
                await self._passes.wait()
            writer.write(data)
            await writer.drain()


@pytest.mark.slow
async def test_workers_that_register_at_once_both_succeed_also_if_one_is_not_told_how_it_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with plain_temporal(tmp_path) as temporal, AsyncExitStack() as stack:
        relay, both = Relay(temporal.address), asyncio.Barrier(2)
        direct = await Client.connect(temporal.address)
        relayed = await Client.connect(await relay.start(stack))
        found: list[Client] = []

        async def both_find_them_missing(client: Client) -> list[Attribute]:
            lacking = await missing(client)
            if client not in found:
                found.append(client)
                assert len(lacking) == len(Attribute), "the control: both will register them"
                if client is relayed:
                    relay.hold()
                await both.wait()
            return lacking

        monkeypatch.setattr(namespace, "missing", both_find_them_missing)
        workers = asyncio.gather(prepare(direct), prepare(relayed))
        await until(lambda: temporal.requests(REGISTERED), lambda number: number == 2)
        await until(lambda: missing(direct), lambda lacking: not lacking)
        relay.cut()
        await workers
        assert await can_be_asked_for(direct)
        assert await temporal.requests(REGISTERED) == 2


@pytest.mark.slow
async def test_what_is_registered_and_not_usable_yet_is_waited_for_and_not_registered_again(tmp_path: Path) -> None:
    async with plain_temporal(tmp_path, refreshed="4s") as temporal:
        client = await Client.connect(temporal.address)
        await register(client)
        assert await missing(client) == []
        assert not await can_be_asked_for(client), "the control: they are not usable yet"
        asked = await temporal.requests(COUNTED)

        await prepare(client)

        assert await can_be_asked_for(client)
        assert await temporal.requests(COUNTED) > asked + 2, "the control: it had to wait"
        assert await temporal.requests(REGISTERED) == 1


@pytest.mark.slow
async def test_what_does_not_become_usable_is_refused_with_the_command_after_the_limit(tmp_path: Path) -> None:
    async with plain_temporal(tmp_path, refreshed="1h") as temporal, asyncio.timeout(20):
        client = await Client.connect(temporal.address)

        with pytest.raises(NamespaceUnusable) as caught:
            await prepare(client, within=1)

        assert "they are not usable 1 s after they were registered" in str(caught.value)
        assert f"run {command('default')}" in str(caught.value)
        assert await missing(client) == []
        assert await temporal.requests(COUNTED) > 1, "it asked again until its limit"
