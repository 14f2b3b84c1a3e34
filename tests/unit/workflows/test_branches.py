"""A branch does one thing at a time."""

import asyncio

import pytest

from workflows.branches import Branches


async def test_a_busy_branch_refuses_more_work_and_keeps_what_it_does() -> None:
    branches, release, others = Branches(), asyncio.Event(), asyncio.all_tasks()

    async def work() -> None:
        await release.wait()

    branches.start("main", work())
    with pytest.raises(ValueError, match="branch 'main' is busy"):
        branches.start("main", work())
    assert len(branches) == 1
    release.set()
    await asyncio.gather(*asyncio.all_tasks() - others)
