"""What an activity's error becomes on its way through Temporal."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from perdure.errors import InvalidTask, JournalMismatch, PerdureError, StoreRefused, StoreUnavailable
from perdure.models.errors import ModelKeyRefused
from perdure.temporal.failures import REFUSED_FOR, ActivityInterceptor


class Raising(ActivityInboundInterceptor):
    def __init__(self, error: PerdureError) -> None:
        self._error = error

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        raise self._error


async def failure(
    interceptor: ActivityInterceptor, error: PerdureError, *, tried: timedelta = timedelta(), attempt: int = 1
) -> ApplicationError:
    inbound, environment = interceptor.intercept_activity(Raising(error)), ActivityEnvironment()
    scheduled = datetime.now(UTC) - tried
    environment.info = dataclasses.replace(environment.info, scheduled_time=scheduled, attempt=attempt)
    given = ExecuteActivityInput(fn=print, args=[], executor=None, headers={})
    with pytest.raises(ApplicationError) as failed:
        await environment.run(inbound.execute_activity, given)
    return failed.value


@pytest.mark.parametrize(
    ("error", "kind", "final"),
    [
        (StoreUnavailable("redis", "away"), "StoreUnavailable", False),
        (StoreRefused("redis", "wrong password", fix="correct it"), "StoreRefused", False),
        (ModelKeyRefused("openai", "HTTP 401"), "ModelKeyRefused", True),
        (JournalMismatch("redis", "one", "another", "folder"), "JournalMismatch", False),
        (InvalidTask("task_id", "is empty"), "InvalidTask", True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, PerdureError) else "",
)
async def test_what_another_worker_can_do_waits_for_it(error: PerdureError, kind: str, final: bool) -> None:
    failed = await failure(ActivityInterceptor(), error)
    assert (failed.type, failed.non_retryable) == (kind, final)
    assert str(error) in str(failed)


REFUSED = StoreRefused("temporal", "may not delete", fix="give the role the right to delete executions")


def waiting() -> StoreUnavailable:
    """Return the error of a job that was accepted, whose worker is refused."""
    error = StoreUnavailable("temporal", str(REFUSED))
    error.__cause__ = REFUSED
    return error


@pytest.mark.parametrize(
    ("error", "tried", "final"),
    [
        (REFUSED, REFUSED_FOR - timedelta(minutes=1), False),
        (REFUSED, REFUSED_FOR, True),
        (waiting(), REFUSED_FOR - timedelta(minutes=1), False),
        (waiting(), REFUSED_FOR, True),
    ],
    ids=["a week long", "no longer", "accepted, a week long", "accepted, no longer"],
)
async def test_what_a_server_refuses_is_retried_for_as_long_as_an_outage_lasts(
    error: PerdureError, tried: timedelta, final: bool
) -> None:
    failed = await failure(ActivityInterceptor(), error, tried=tried, attempt=20)
    assert failed.non_retryable is final
    assert failed.next_retry_delay == timedelta(minutes=5)
    assert "give the role the right to delete executions" in failed.message


async def test_a_refused_worker_says_so_once_for_each_activity_with_the_fix() -> None:
    interceptor = ActivityInterceptor()
    with capture_logs() as logs:
        for error in (REFUSED, REFUSED, waiting(), StoreUnavailable("redis", "away")):
            await failure(interceptor, error)
    [line] = logs
    assert (line["event"], line["log_level"]) == ("this worker is refused", "error")
    assert line["problem"] == str(REFUSED)
