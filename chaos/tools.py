"""The tools of the tasks under chaos: each effect is a line in the ledger, between two pauses."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from chaos.ledger import note, read
from perdure import ToolCall, tool


async def acted(call: ToolCall, ledger: str, pause: float) -> str | None:
    """Return the key of an effect that happened."""
    return call.idempotency_key if read(Path(ledger)).done[call.idempotency_key] else None


@contextmanager
def _attempt(call: ToolCall, ledger: str) -> Generator[None]:
    note(ledger, "begun", call.idempotency_key)
    try:
        yield
    finally:
        note(ledger, "ended", call.idempotency_key)


async def _act(call: ToolCall, ledger: str, pause: float) -> str:
    with _attempt(call, ledger):
        await asyncio.sleep(pause)
        note(ledger, "done", call.idempotency_key)
        await asyncio.sleep(pause)
    return call.idempotency_key


@tool(effect="once", timeout=3, check=acted)
async def act(call: ToolCall, ledger: str, pause: float) -> str:
    """Act, and let the ledger be asked whether it happened."""
    return await _act(call, ledger, pause)


@tool(effect="once", timeout=3)
async def act_unseen(call: ToolCall, ledger: str, pause: float) -> str:
    """Act; nobody but a person can find out whether it happened."""
    return await _act(call, ledger, pause)


@tool(effect="once", timeout=3, check=acted)
async def act_in_thread(call: ToolCall, ledger: str, pause: float) -> str:
    """Act in a thread: where the process is stopped in the middle, nothing can keep it from acting when it wakes."""

    def work() -> None:
        with _attempt(call, ledger):
            time.sleep(pause)
            note(ledger, "done", call.idempotency_key)

    await asyncio.to_thread(work)
    return call.idempotency_key
