"""Few replays at once, by whichever poll they come, and fewer while they are slow."""

import asyncio

import pytest

from worker.slots import AT_ONCE, QUICK, SLOW, Place, Places


async def replayed(places: Places, seconds: float) -> None:
    """Replay a workflow."""
    place = await places.acquire(is_sticky=False)
    places.use(place, is_replay=True, now=100.0)
    places.release(place, now=100.0 + seconds)


async def asks(places: Places, *, is_sticky: bool) -> Place | None:
    """Ask for a task; None if one has to wait."""
    waiting = asyncio.create_task(places.acquire(is_sticky=is_sticky))
    for _ in range(3):
        await asyncio.sleep(0)
    if waiting.done():
        return waiting.result()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    return None


async def test_slow_ones_leave_one_at_a_time_and_quick_ones_bring_the_others_back() -> None:
    places = Places(3)
    for seconds, limit in ((SLOW + 1, 2), (SLOW + 1, 1), (SLOW + 1, 1), (1.0, 1), (QUICK / 2, 2), (0.1, 3), (0.1, 3)):
        await replayed(places, seconds)
        assert places.limit == limit


async def test_what_brought_nothing_or_was_cached_says_nothing_of_replays() -> None:
    places = Places(3)
    unused, cached = [await places.acquire(is_sticky=True) for _ in range(2)]
    await replayed(places, SLOW + 1)
    places.release(unused, now=100.0)
    places.use(cached, is_replay=False, now=100.0)
    places.release(cached, now=100.0 + QUICK / 2)
    assert places.limit == 2


async def test_no_more_replay_than_the_limit_and_the_next_one_comes_as_one_ends() -> None:
    places = Places(3)
    held = [await places.acquire(is_sticky=False) for _ in range(3)]
    assert await asks(places, is_sticky=False) is None
    for place in held:
        places.use(place, is_replay=True, now=0.0)
    assert await asks(places, is_sticky=False) is None
    places.release(held.pop(), now=SLOW + 1)
    assert await asks(places, is_sticky=False) is None, "one fewer at a time now"
    places.release(held.pop(), now=1.0)
    assert await asks(places, is_sticky=False) is not None
    assert await asks(places, is_sticky=False) is None


async def test_replays_that_come_by_polls_for_cached_workflows_count() -> None:
    """Temporal answers such polls out of the queue that all share once tasks have waited there."""
    places = Places(3)
    own = [await places.acquire(is_sticky=True) for _ in range(4)]
    for place in own:
        places.use(place, is_replay=True, now=0.0)
    assert await asks(places, is_sticky=False) is None
    assert await asks(places, is_sticky=True) is None, "more than there may be: no poll may bring one more"
    places.release(own.pop(), now=1.0)
    assert await asks(places, is_sticky=False) is None
    place = await asks(places, is_sticky=True)
    assert place is not None, "cached workflows go on beside as many replays as there may be"
    assert await asks(places, is_sticky=True) is None, "but one poll at a time asks for them"
    places.use(place, is_replay=False, now=1.0)
    assert await asks(places, is_sticky=True) is not None


async def test_one_poll_at_a_time_asks_for_cached_workflows_while_replays_are_slow() -> None:
    places = Places(3)
    await replayed(places, SLOW + 1)
    own = await places.acquire(is_sticky=True)
    assert await asks(places, is_sticky=True) is None
    places.use(own, is_replay=False, now=0.0)
    assert await asks(places, is_sticky=True) is not None
    await replayed(places, QUICK / 2)
    assert await asks(places, is_sticky=True) is not None
    assert await asks(places, is_sticky=True) is not None


async def test_cached_workflows_are_limited_by_themselves() -> None:
    places = Places(3)
    for _ in range(AT_ONCE):
        places.use(await places.acquire(is_sticky=True), is_replay=False, now=0.0)
    assert await asks(places, is_sticky=True) is None
    assert await asks(places, is_sticky=False) is not None


async def test_one_that_waits_asks_as_soon_as_it_may() -> None:
    places = Places(1)
    place = await places.acquire(is_sticky=False)
    waiting = asyncio.create_task(places.acquire(is_sticky=False))
    await asyncio.sleep(0)
    places.release(place, now=0.0)
    await asyncio.wait_for(waiting, 5)


async def test_one_that_is_cancelled_takes_no_place() -> None:
    places = Places(1)
    place = await places.acquire(is_sticky=False)
    cancelled, next_one = (asyncio.create_task(places.acquire(is_sticky=False)) for _ in range(2))
    await asyncio.sleep(0)
    places.release(place, now=1.0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await asyncio.wait_for(next_one, 5)
