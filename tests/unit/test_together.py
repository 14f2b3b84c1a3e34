import asyncio
import re
from pathlib import Path

import pytest

from perdure import together as together_module
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


PACKAGES = ("activities", "bench", "chaos", "demo", "localservers", "perdure", "worker", "workflows")


def test_it_is_awaited_at_once_wherever_it_is_called() -> None:
    # Cancelled before it begins, one that is only handed on would drop the calls that it was given.
    packages = [Path(together_module.__file__).parents[1] / name for name in PACKAGES]
    texts = [file.read_text("utf-8") for package in packages for file in package.rglob("*.py")]
    calls = [before for text in texts for before in re.findall(r"(\w*)[ ]*(?<![\w.])together\(", text)]
    assert len(calls) > 20
    assert {*calls} == {"await", "def"}
