"""What an activity's error becomes on its way through Temporal."""

from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from perdure.errors import InvalidTask, JournalMismatch, PerdureError, StoreRefused, StoreUnavailable
from perdure.temporal.failures import ActivityInterceptor


class Raising(ActivityInboundInterceptor):
    def __init__(self, error: PerdureError) -> None:
        self._error = error

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("error", "kind", "final"),
    [
        (StoreUnavailable("redis", "away"), "StoreUnavailable", False),
        (StoreRefused("redis", "wrong password", fix="correct it"), "StoreUnavailable", False),
        (JournalMismatch("redis", "one", "another", "folder"), "JournalMismatch", False),
        (InvalidTask("task_id", "is empty"), "InvalidTask", True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, PerdureError) else "",
)
async def test_what_another_worker_can_do_waits_for_it(error: PerdureError, kind: str, final: bool) -> None:
    inbound = ActivityInterceptor().intercept_activity(Raising(error))
    given = ExecuteActivityInput(fn=print, args=[], executor=None, headers={})
    with pytest.raises(ApplicationError) as failed:
        await ActivityEnvironment().run(inbound.execute_activity, given)
    assert (failed.value.type, failed.value.non_retryable) == (kind, final)
    assert str(error) in str(failed.value)
