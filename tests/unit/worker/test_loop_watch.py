"""Whoever blocks a worker's loop is named, by tool and line."""

import asyncio
import time
from typing import Any

import pytest
from structlog.testing import capture_logs

from perdure.agent.steps.invocation import calling
from tests.support.waiting import until_true
from worker.loop_watch import PERIOD, watched_loop


@pytest.mark.parametrize("blocking", [True, False], ids=["blocks", "control"])
async def test_a_tool_that_blocks_the_loop_is_named(blocking: bool) -> None:
    async def send() -> None:
        async with calling("send_invoice", 5.0):
            if blocking:
                time.sleep(1.0)  # noqa: ASYNC251 - what the watch is for
            else:
                await asyncio.sleep(1.0)

    found: list[Any]
    with capture_logs() as found, watched_loop(0.3):
        await asyncio.create_task(send())
        if blocking:
            await until_true(lambda: len(found) == 2)
    if not blocking:
        assert found == []
        return
    during, after = found
    assert (during["event"], during["by"]) == ("the worker's loop is blocked", "tool send_invoice")
    assert "test_loop_watch.py" in during["where"]
    assert during["where"].endswith("in send")
    assert after["by"] == "tool send_invoice"
    # It may have been blocked for a period before it was asked.
    assert after["seconds"] >= 1.0 - PERIOD - 0.1
