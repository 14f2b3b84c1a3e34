"""What a tool raises, as its step sees it."""

import asyncio

import pytest

from perdure.agent.steps.calling import calling
from perdure.errors import Blocked, ToolFailed


def test_a_tool_cannot_say_that_a_policy_blocked_it() -> None:
    async def refused() -> None:
        async with calling("send", 1.0):
            raise Blocked("a: send may not be called here")

    with pytest.raises(ToolFailed, match="raised Blocked"):
        asyncio.run(refused())
