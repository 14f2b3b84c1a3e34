import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from perdure.errors import StoreUnavailable, ToolFailed
from perdure.temporal.failures import ActivityInterceptor, attempt_of
from perdure.temporal.heartbeats import beats, nothing_done_before


class Failing(ActivityInboundInterceptor):
    def __init__(self, noticed: asyncio.Event) -> None:
        self._noticed = noticed

    async def execute_activity(self, input: ExecuteActivityInput) -> None:
        async with asyncio.timeout(10):
            await self._noticed.wait()
        beats().failures += 1
        raise ToolFailed("look_up", "ValueError")


class Acting(ActivityInboundInterceptor):
    def __init__(self, acts: bool, *, fails: bool = False) -> None:
        self._acts = acts
        self._fails = fails

    async def execute_activity(self, input: ExecuteActivityInput) -> None:
        beats().acted = beats().acted or self._acts
        if self._fails:
            raise ToolFailed("look_up", "ValueError")


async def test_every_activity_beats_within_its_time_out_and_reports_its_failures_at_the_end() -> None:
    environment, noticed, sent = ActivityEnvironment(), asyncio.Event(), list[Any]()
    environment.info = replace(environment.info, heartbeat_timeout=timedelta(seconds=0.3))

    def heard(*details: Any) -> None:
        sent.append(details)
        noticed.set()

    environment.on_heartbeat = heard
    inbound = ActivityInterceptor().intercept_activity(Failing(noticed))
    with pytest.raises(ApplicationError, match="PRD112"):
        await environment.run(inbound.execute_activity, ExecuteActivityInput(heard, [], None, {}))
    assert (sent[0], sent[-1]) == ((0, 0, 0, 0), (1, 1, 0, 0))


async def test_one_that_ends_well_before_its_first_beat_sends_none() -> None:
    environment, sent = ActivityEnvironment(), list[Any]()
    environment.on_heartbeat = lambda *details: sent.append(details)
    inbound = ActivityInterceptor().intercept_activity(Acting(acts=True))
    await environment.run(inbound.execute_activity, ExecuteActivityInput(print, [], None, {}))
    assert sent == []


@pytest.mark.parametrize(
    ("attempt", "told", "acts", "last"),
    [
        (1, [], False, 1),
        (1, [], True, 0),
        (2, [0, 1], False, 2),
        (2, [0, 0], False, 0),
        (2, [], False, 0),
        (3, [0, 1], False, 0),
    ],
)
async def test_the_last_heartbeat_of_one_that_fails_says_whether_anything_was_done_until_then(
    attempt: int, told: Sequence[int], acts: bool, last: int
) -> None:
    environment, sent = ActivityEnvironment(), list[Any]()
    environment.info = replace(environment.info, attempt=attempt, heartbeat_details=told)
    environment.on_heartbeat = lambda *details: sent.append(details)
    inbound = ActivityInterceptor().intercept_activity(Acting(acts, fails=True))
    with pytest.raises(ApplicationError, match="PRD112"):
        await environment.run(inbound.execute_activity, ExecuteActivityInput(print, [], None, {}))
    assert sent[-1] == (0, last, 0, 0)


class Asking(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> None:
        beats().tokens += 15
        beats().failures += 1
        beats().unusable += 1
        raise StoreUnavailable("the model", "429")


@pytest.mark.parametrize(
    ("told", "last"),
    [
        ([1, 1, 30, 2], (2, 2, 45, 3)),
        ([1, 1, 30, 2, "newer"], (2, 2, 45, 3)),
        ([1, 1], (2, 2, 15, 1)),
    ],
    ids=["this build", "a newer one", "an older one"],
)
async def test_what_a_model_was_asked_for_in_vain_is_known_to_the_next_attempt_and_to_the_failure(
    told: Sequence[Any], last: Sequence[int]
) -> None:
    environment, sent = ActivityEnvironment(), list[Any]()
    environment.info = replace(environment.info, attempt=2, heartbeat_details=told)
    environment.on_heartbeat = lambda *details: sent.append(details)
    inbound = ActivityInterceptor().intercept_activity(Asking(Failing(asyncio.Event())))
    with pytest.raises(ApplicationError, match="429") as caught:
        await environment.run(inbound.execute_activity, ExecuteActivityInput(print, [], None, {}))
    assert sent[-1] == last
    attempt = attempt_of(caught.value)
    assert attempt is not None
    assert attempt.tokens == last[2]


def test_an_activity_that_was_reset_counts_its_attempts_anew() -> None:
    assert not nothing_done_before(1, [0, 0])
    assert not nothing_done_before(1, [0, 3])
    assert nothing_done_before(2, [0, 1])
