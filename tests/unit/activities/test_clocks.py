"""An attempt that was begun long ago is late, also where its worker stood still before it entered it."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from activities.clocks import temporal_clock


@pytest.mark.parametrize("late", [timedelta(), timedelta(minutes=10)], ids=["begun now", "begun long ago"])
async def test_an_attempt_knows_how_late_it_is(late: timedelta) -> None:
    now = datetime.now(UTC)
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, started_time=now - late)

    async def told() -> datetime:
        return temporal_clock()()

    assert now <= await environment.run(told) < now + timedelta(minutes=1)


async def test_temporals_clock_counts_where_it_is_ahead() -> None:
    ahead = datetime.now(UTC) + timedelta(hours=1)
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, started_time=ahead)

    async def told() -> datetime:
        return temporal_clock()()

    assert await environment.run(told) >= ahead
