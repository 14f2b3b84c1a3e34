"""What Temporal says of a task's calls that failed and are tried again: no worker has to answer."""

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription
from temporalio.converter import DataConverter
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, FailureError, TimeoutError

from perdure.error_kinds import KINDS
from perdure.frames import own
from perdure.temporal.failures import attempt_of
from perdure.values.retries import Retry

_UNREGISTERED = "NotFoundError"
"""What the SDK (1.35) calls the failure of an activity that a worker does not have."""


async def retries_of(found: WorkflowExecutionDescription) -> tuple[Retry, ...]:
    """Return the calls of a task that failed and are tried again, each with its last failure and without content."""
    retries = [await _retry(one, found.data_converter) for one in found.raw_description.pending_activities]
    return tuple(one for one in retries if one is not None)


async def _retry(pending: PendingActivityInfo, converter: DataConverter) -> Retry | None:
    if pending.attempt < 2 or not pending.HasField("last_failure"):
        return None
    failure = await converter.decode_failure(pending.last_failure)
    if isinstance(failure, ApplicationError) and failure.category is ApplicationErrorCategory.BENIGN:
        # It waits, for a job or for its turn, and has not failed.
        return None
    problem, place = _why(failure)
    is_waiting = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
    return Retry(
        called=pending.activity_type.name,
        attempt=pending.attempt - 1,
        problem=problem,
        place=place,
        failed_at=_moment(pending, "last_attempt_complete_time"),
        next_at=_moment(pending, "next_attempt_schedule_time") if is_waiting else None,
    )


def _why(failure: BaseException) -> tuple[str, str]:
    """Return why an attempt failed, and the line of a tool's own that did: never what an exception says."""
    if isinstance(failure, TimeoutError):
        return "it was cut off, or its worker is gone", ""
    if not isinstance(failure, ApplicationError):
        return failure.message if isinstance(failure, FailureError) else type(failure).__name__, ""
    if failure.type == _UNREGISTERED:
        return "the worker that took it has no such tool: its settings name other tools", ""
    attempt = attempt_of(failure)
    place = next((frame.told for frame in own(attempt.frames)), "") if attempt is not None else ""
    # What a tool itself raised, also as NotDone, may quote what it was given.
    if attempt is not None and attempt.cause:
        return attempt.cause, place
    # The messages of Perdure's own errors have no content; those of others may.
    return (failure.message if failure.type in KINDS else failure.type or "an unknown error"), place


def _moment(pending: PendingActivityInfo, name: str) -> datetime | None:
    if not pending.HasField(name):  # pyright: ignore[reportArgumentType]  the names are literals
        return None
    found: Timestamp = getattr(pending, name)
    return found.ToDatetime(tzinfo=UTC)
