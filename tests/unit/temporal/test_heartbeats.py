import asyncio
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from perdure.errors import ToolFailed
from perdure.temporal.failures import ActivityInterceptor
from perdure.temporal.heartbeats import beats


class Failing(ActivityInboundInterceptor):
    def __init__(self, noticed: asyncio.Event) -> None:
        self._noticed = noticed

    async def execute_activity(self, input: ExecuteActivityInput) -> None:
        async with asyncio.timeout(10):
            await self._noticed.wait()
        beats().failures += 1
        raise ToolFailed("look_up", "ValueError")


async def test_every_activity_beats_at_once_and_reports_its_failures_at_the_end() -> None:
    environment, noticed, sent = ActivityEnvironment(), asyncio.Event(), list[Any]()

    def heard(*details: Any) -> None:
        sent.append(details[0])
        noticed.set()

    environment.on_heartbeat = heard
    inbound = ActivityInterceptor().intercept_activity(Failing(noticed))
    with pytest.raises(ApplicationError, match="PRD112"):
        await environment.run(inbound.execute_activity, ExecuteActivityInput(heard, [], None, {}))
    assert (sent[0], sent[-1]) == (0, 1)
