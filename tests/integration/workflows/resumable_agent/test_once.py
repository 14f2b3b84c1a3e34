"""An attempt at a once effect and the one before it, on the real Redis."""

import asyncio
import datetime
import threading
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest

from perdure import ToolCall, tool
from perdure.agent.steps.once import Happened, OnceRunner
from perdure.stores.redis.claims import Claims
from perdure.stores.redis.connection import connect
from tests.conftest import Servers


@pytest.fixture
async def claims(servers: Servers) -> AsyncGenerator[Claims]:
    redis = connect(servers.redis_url)
    yield Claims(redis, datetime.timedelta(minutes=1))
    await redis.aclose()


def call(timeout: float) -> ToolCall:
    deadline = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=timeout)
    return ToolCall(idempotency_key=uuid4().hex, task_id="t", step="s", attempt=1, deadline=deadline)


async def test_what_a_cancelled_attempt_started_may_act_until_its_deadline(claims: Claims) -> None:
    effects: list[int] = []
    started, let = asyncio.Queue[int](), threading.Event()

    async def look() -> int | None:
        return len(effects) or None

    @tool(effect="once", timeout=2.0, check=look)
    async def act() -> int:
        def effect() -> None:
            let.wait(5)
            effects.append(1)

        thread = asyncio.get_running_loop().run_in_executor(None, effect)
        started.put_nowait(1)
        await asyncio.shield(thread)
        return 1

    runner, this = OnceRunner(claims), call(2.0)
    cancelled = asyncio.create_task(runner.run("t_once", act, this, {}, "first", verdict=None))
    await started.get()
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    second = asyncio.create_task(runner.run("t_once", act, this, {}, "second", verdict=None))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await started.get()
    let.set()
    assert await second == Happened(output=1)
    assert effects == [1]


async def test_the_deadline_that_a_tool_is_told_is_its_own(claims: Claims) -> None:
    async def look(call: ToolCall) -> float | None:
        left.append((call.deadline - datetime.datetime.now(datetime.UTC)).total_seconds())
        return None

    @tool(effect="once", timeout=1.0, check=look)
    async def act(call: ToolCall) -> None:
        left.append((call.deadline - datetime.datetime.now(datetime.UTC)).total_seconds())

    left: list[float] = []
    this = call(1.0)
    await claims.claim("t_once", this.idempotency_key, "dead", 1.0)
    await OnceRunner(claims).run("t_once", act, this, {}, "ours", verdict=None)
    assert len(left) == 2
    assert all(0.5 < seconds <= 1.0 for seconds in left)
