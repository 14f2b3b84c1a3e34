"""What a tool raises, as its step sees it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from perdure.agent.steps.invocation import calling, in_time
from perdure.errors import Blocked, NotDone, ToolFailed
from perdure.temporal.errors import failure_of


def test_a_tool_cannot_say_that_a_policy_blocked_it() -> None:
    async def refused() -> None:
        async with calling("send", 1.0):
            raise Blocked("a: send may not be called here")

    with pytest.raises(ToolFailed, match="raised Blocked"):
        asyncio.run(refused())


async def late_text(call: Coroutine[Any, Any, None], left: Callable[[], float]) -> str:
    with pytest.raises(ToolFailed) as failed:
        async with calling("send", 9.0) as limit:
            await in_time(call, left, limit)
    return failed.value.text


async def test_a_call_that_is_late_is_cut_off_before_its_next_line_and_may_clean_up() -> None:
    seconds, told = [1.0], list[str]()

    async def act() -> None:
        try:
            told.append("began")
            await asyncio.sleep(0)
            told.append("acted")
        finally:
            await asyncio.sleep(0)
            told.append("cleaned up")

    asyncio.get_running_loop().call_soon(seconds.__setitem__, 0, 0.0)
    assert await late_text(act(), lambda: seconds[0]) == "it took longer than 9 s"
    assert told == ["began", "cleaned up"]


async def test_a_call_that_is_in_time_runs_as_if_nothing_stood_between() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError("no such shop")

    async def act() -> list[object]:
        found = await asyncio.gather(asyncio.sleep(0.001, "slept"), asyncio.to_thread(str.upper, "called"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        with pytest.raises(LookupError):
            await fails()
        return list(found)

    async with calling("send", 9.0) as limit:
        assert await in_time(act(), lambda: 9.0, limit) == ["slept", "CALLED"]
    assert await late_text(fails(), lambda: 9.0) == "no such shop"


async def test_a_call_that_is_late_and_cancelled_is_cancelled() -> None:
    async def act() -> None:
        await asyncio.Event().wait()

    async def step(left: list[float]) -> None:
        async with calling("send", 9.0) as limit:
            await in_time(act(), left.pop, limit)

    under_way = asyncio.create_task(step([0.0, 1.0]))
    await asyncio.sleep(0)
    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way


async def text_of(call: Coroutine[Any, Any, Any], *, within: float = 9.0) -> str:
    """Return what a step is told of a call that fails."""
    with pytest.raises(ToolFailed) as failed:
        async with calling("send", within):
            await call
    return failed.value.text


async def test_only_a_call_that_took_longer_is_said_to_have() -> None:
    async def exhausted() -> None:
        raise TimeoutError("db pool exhausted: 10 connections in use")

    async def times_itself() -> None:
        async with asyncio.timeout(0.001):
            await asyncio.Event().wait()

    assert await text_of(exhausted()) == "db pool exhausted: 10 connections in use"
    assert await text_of(times_itself()) == ""
    assert await text_of(asyncio.sleep(9), within=0.001) == "it took longer than 0.001 s"


class Mute(LookupError):
    def __str__(self) -> str:
        raise KeyError("shop")


class Unsaid(NotDone):
    def __str__(self) -> str:
        raise KeyError("shop")


async def test_an_exception_that_cannot_say_its_text_is_a_failure_as_any() -> None:
    async def act(problem: Exception) -> None:
        raise problem

    assert await text_of(act(Mute())) == "its text is not known: its __str__ raised KeyError"
    failure = failure_of(Unsaid("the bank is closed"))
    assert (failure.type, failure.message) == ("Unsaid", "its text is not known: its __str__ raised KeyError")


async def test_a_tool_that_raises_a_group_is_told_by_the_first_exception_in_it() -> None:
    async def looks() -> None:
        raise KeyError("the real reason")

    with pytest.raises(ToolFailed, match="raised KeyError") as failed:
        async with calling("send", 9.0), asyncio.TaskGroup() as tasks:
            tasks.create_task(looks())
    assert (failed.value.kind, failed.value.text) == ("KeyError", "'the real reason'")
