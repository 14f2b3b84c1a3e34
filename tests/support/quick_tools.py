"""Quick tools, in a module of their own: some workers of the tests lack them."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from perdure import NotDone, ToolCall, tool
from tests.support import tools
from tests.support.tools import append_and_die_once, append_line, lines_in


@tool(effect="read", quick=True)
async def echo_quickly(value: Any) -> Any:
    """Return back what it is given, in no time."""
    return value


@tool(effect="idempotent", quick=True)
async def append_quickly(ledger: str, line: str) -> dict[str, Any]:
    """Append a line, as often as it is called."""
    append_line(ledger, line)
    return {"line": line}


@tool(effect="idempotent", quick=True)
async def append_late_quickly(ledger: str, line: str, seconds: float) -> dict[str, Any]:
    """Append a line, and take some time about it."""
    append_line(ledger, line)
    await asyncio.sleep(seconds)
    return {"line": line}


@tool(effect="idempotent", quick=True)
async def append_quickly_and_die(ledger: str, line: str) -> dict[str, Any]:
    """Append a line; the first time that it is line 13, take the worker along."""
    return append_and_die_once(ledger, line)


@tool(effect="read", quick=True)
async def flaky_quickly(ledger: str, fails: int) -> int:
    """Fail this often, then succeed."""
    return await tools.flaky(ledger, fails)


@tool(effect="read", quick=True)
async def linger_quickly(ledger: str) -> str:
    """Take longer than a quick tool may."""
    append_line(ledger, "started")
    await asyncio.sleep(0.8)
    return "late"


@tool(effect="read", quick=True)
async def hesitant_quickly(ledger: str) -> int:
    """Report once that nothing happened, then fail."""
    append_line(ledger, "try")
    if len(lines_in(ledger)) <= 2:
        raise NotDone("the service was busy")
    raise RuntimeError("gone")


@tool(effect="read", quick=True)
async def tell_quickly(call: ToolCall, ledger: str) -> list[Any]:
    """Tell what each call of it is told; the first one takes too long."""
    left = (call.deadline - datetime.now(UTC)).total_seconds()
    append_line(ledger, json.dumps([call.attempt, left, call.idempotency_key]))
    if call.attempt == 1:
        await asyncio.sleep(1)
    return [json.loads(line) for line in lines_in(ledger)]


@tool(effect="read", quick=True)
async def echo_late_quickly(value: Any, seconds: float) -> Any:
    """Return what was given, a while later."""
    await asyncio.sleep(seconds)
    return value
