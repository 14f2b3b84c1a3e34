"""What is said of a call that failed and is tried again: what and where, and nothing that it was given."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import ActivityType
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription
from temporalio.converter import DataConverter
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, TimeoutError, TimeoutType

from perdure.errors import NotDone, StoreUnavailable, ToolFailed
from perdure.frames import Frame
from perdure.temporal.errors import failure_of
from perdure.values.questions import FailedAttempt
from worker.retries import retries_of

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
AT = Frame(file="ship.py", line=8, function="weigh")
ATTEMPT = FailedAttempt(began=NOW, cause="ConnectionError", frames=(AT,)).model_dump_json()
SECRET = "the scale of Ada's house"

REFUSED = FailedAttempt(began=NOW, cause="NotDone", frames=(AT,)).model_dump_json()

RAISED = failure_of(ToolFailed("weigh", "ConnectionError", SECRET), attempt=ATTEMPT)


def moment(seconds: float) -> Timestamp:
    found = Timestamp()
    found.FromDatetime(NOW + timedelta(seconds=seconds))
    return found


async def told(failure: BaseException, *, attempt: int = 4, waits: bool = True) -> list[str]:
    states = PendingActivityState
    state = states.PENDING_ACTIVITY_STATE_SCHEDULED if waits else states.PENDING_ACTIVITY_STATE_STARTED
    pending = PendingActivityInfo(
        activity_type=ActivityType(name="weigh"),
        attempt=attempt,
        state=state,
        last_attempt_complete_time=moment(-2),
        next_attempt_schedule_time=moment(4),
    )
    converter = DataConverter.default
    await converter.encode_failure(failure, pending.last_failure)
    raw = SimpleNamespace(pending_activities=[pending])
    found = SimpleNamespace(raw_description=raw, data_converter=converter)
    return [one.told(NOW) for one in await retries_of(cast("WorkflowExecutionDescription", found))]


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (RAISED, "ConnectionError, ship.py:8 in weigh"),
        (failure_of(NotDone(SECRET), attempt=REFUSED), "NotDone, ship.py:8 in weigh"),
        (failure_of(NotDone("MCP server 'shop' does not answer")), "PRD303 MCP server 'shop' does not answer"),
        (failure_of(StoreUnavailable("redis", "does not answer")), "PRD200 redis: does not answer"),
        (
            ApplicationError("Activity function weigh … is not registered", type="NotFoundError"),
            "the worker that took it has no such tool: its settings name other tools",
        ),
        (TimeoutError("late", type=TimeoutType.HEARTBEAT, last_heartbeat_details=[]), "it was cut off, or its worker"),
        (ApplicationError(SECRET, type="TheirError"), "TheirError"),
    ],
    ids=[
        "an exception of a tool's",
        "what a tool did not do",
        "no server",
        "a store",
        "no such tool",
        "a dead worker",
        "a failure of others",
    ],
)
async def test_a_failed_attempt_says_why_and_when_the_next_one_is(failure: BaseException, why: str) -> None:
    [line] = await told(failure)
    assert line.startswith(f"weigh: attempt 3 failed 2 s ago ({why}")
    assert line.endswith("; next in 4 s")
    assert SECRET not in line


async def test_what_has_not_failed_is_left_out() -> None:
    assert await told(RAISED, attempt=1) == []
    assert await told(ApplicationError("its turn comes", category=ApplicationErrorCategory.BENIGN)) == []
    [line] = await told(RAISED, waits=False)
    assert line.endswith("; attempt 4 is under way")
