import asyncio

import pytest

from perdure.together import together


async def test_results_come_in_order() -> None:
    async def give(value: int, turns: int) -> int:
        for _ in range(turns):
            await asyncio.sleep(0)
        return value

    assert await together(give(1, 5), give(2, 0), give(3, 2)) == (1, 2, 3)
    assert await together() == ()


async def test_after_a_failure_nothing_goes_on() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("cancelled")

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await together(wait(), fail())
    assert ended == ["cancelled"]
