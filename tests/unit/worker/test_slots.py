"""Fewer replays at once while they are slow: each would be cut off, and begun again."""

import asyncio

import pytest

from worker.slots import QUICK, SLOW, Replays


async def test_slow_ones_leave_one_at_a_time_and_quick_ones_bring_the_others_back() -> None:
    replays = Replays(3)
    for seconds, limit in ((SLOW + 1, 2), (SLOW + 1, 1), (SLOW + 1, 1), (1.0, 1), (QUICK / 2, 2), (0.1, 3), (0.1, 3)):
        await replays.acquire()
        replays.release(seconds)
        assert replays.limit == limit
    await replays.acquire()
    replays.release(None)
    assert replays.limit == 3, "what was not used says nothing"


async def test_no_more_are_held_than_the_limit_and_those_that_wait_come_in_turn() -> None:
    replays, held = Replays(3), list[int]()

    async def hold(number: int) -> None:
        await replays.acquire()
        held.append(number)

    tasks = [asyncio.create_task(hold(number)) for number in range(6)]
    await asyncio.sleep(0)
    assert held == [0, 1, 2]
    replays.release(SLOW + 1)
    await asyncio.sleep(0)
    assert held == [0, 1, 2], "one fewer at a time now"
    replays.release(1.0)
    await asyncio.sleep(0)
    assert held == [0, 1, 2, 3]
    replays.release(0.1)
    await asyncio.sleep(0)
    assert held == [0, 1, 2, 3, 4, 5], "a quick one makes room for two"
    await asyncio.gather(*tasks)


async def test_one_that_is_cancelled_as_its_place_comes_gives_it_back() -> None:
    replays = Replays(1)
    await replays.acquire()
    cancelled, next_one = (asyncio.create_task(replays.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    replays.release(1.0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await asyncio.wait_for(next_one, 5)


async def test_one_that_is_cancelled_while_it_waits_takes_no_place() -> None:
    replays = Replays(1)
    await replays.acquire()
    cancelled = asyncio.create_task(replays.acquire())
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    replays.release(1.0)
    await asyncio.wait_for(replays.acquire(), 5)
