"""The connection to an MCP server, a real process: what one call meets is no matter of the others."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from perdure.errors import NotDone
from perdure.mcp.connection import AnsweredError, ServerConnection
from perdure.mcp.shape import McpServer
from perdure.secrets.sources import SecretKeeper
from tests.support.tools import append_line, lines_in
from tests.support.waiting import until_true


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[ServerConnection]:
    how = {"command": sys.executable, "args": ("-m", "tests.support.mcp_server", str(tmp_path / "pid"))}
    server = McpServer.model_validate({"name": "led", "env": {"PYTHONPATH": str(Path.cwd())}, **how})
    one = ServerConnection(server, SecretKeeper())
    yield one
    await one.close()


def soon(seconds: float = 30) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def pid(folder: Path) -> str:
    return (folder / "pid").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "told"), [("breaks", "no such sheet"), ("misreports", "'count' is a required")])
async def test_an_answered_error_is_the_failure_of_its_call_alone(
    connection: ServerConnection, tmp_path: Path, tool: str, told: str
) -> None:
    ledger = str(tmp_path / "ledger")
    given = {"why": "no such sheet"} if tool == "breaks" else {"ledger": ledger}
    lines = 1 if tool == "breaks" else 2
    await connection.tools()
    started = pid(tmp_path)
    async with asyncio.TaskGroup() as group:
        resting = {"ledger": ledger, "until": lines}
        beside = group.create_task(connection.call("rest", resting, until=soon(), is_once=True))
        await connection.call("add", {"one": 1}, until=soon(), is_once=False)
        with pytest.raises(AnsweredError, match=told):
            await connection.call(tool, given, until=soon(), is_once=False)
        append_line(ledger, "go on")
    assert not beside.result().is_error
    assert pid(tmp_path) == started


@pytest.mark.slow
async def test_a_server_that_is_busy_with_a_call_is_left_to_it(connection: ServerConnection, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    await connection.tools()
    started = pid(tmp_path)
    async with asyncio.TaskGroup() as group:
        # It serves nobody meanwhile.
        busy = group.create_task(connection.call("block", {"ledger": str(ledger)}, until=soon(), is_once=False))
        await until_true(lambda: ledger.exists() and lines_in(str(ledger)) == ["began"])
        with pytest.raises(NotDone, match="took longer than"):
            await connection.call("add", {"one": 1}, until=soon(0.5), is_once=True)
        append_line(str(ledger), "go on")
    assert not busy.result().is_error
    assert pid(tmp_path) == started
