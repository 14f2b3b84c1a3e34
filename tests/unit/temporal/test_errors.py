"""Temporal's errors as callers get them: Perdure's, with code, field and fix."""

from collections.abc import Iterator

import pytest
from temporalio.client import RPCError, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    FailureError,
    RetryState,
    TerminatedError,
    TimeoutError,
    TimeoutType,
)
from temporalio.service import RPCStatusCode

from perdure.errors import (
    ExpectationFailed,
    InvalidAnswer,
    InvalidInput,
    InvalidTask,
    NamespaceUnusable,
    PerdureError,
    StoreRefused,
    StoreUnavailable,
    ToolFailed,
    WorkerUnavailable,
    WorkflowCancelled,
    WorkflowFailed,
)
from perdure.temporal.converter import PerdureConverter
from perdure.temporal.errors import failure_of, perdure_error, translated
from perdure.values.tasks import TaskResult

REFUSED = InvalidTask("inputs.lok", "is not a field here", fix="did you mean 'lock'?")
TIMED_OUT = TimeoutError("timed out", type=TimeoutType.SCHEDULE_TO_CLOSE, last_heartbeat_details=[])


def failed(cause: FailureError) -> WorkflowFailureError:
    activity = ActivityError(
        "activity failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="",
        activity_type="t",
        activity_id="1",
        retry_state=RetryState.NON_RETRYABLE_FAILURE,
    )
    activity.__cause__ = cause
    return WorkflowFailureError(cause=activity)


def every_error(kind: type[PerdureError] = PerdureError) -> Iterator[type[PerdureError]]:
    for one in kind.__subclasses__():
        yield from (one, *every_error(one))


def rpc(status: RPCStatusCode, message: str) -> RPCError:
    return RPCError(message, status, b"")


@pytest.mark.parametrize(
    "error",
    [
        StoreRefused("redis", "AuthenticationError", fix="x"),
        REFUSED,
        InvalidAnswer("value", "is empty"),
        StoreUnavailable("redis", "down"),
        ExpectationFailed("a: no"),
    ],
)
def test_an_error_arrives_as_it_was_raised(error: PerdureError) -> None:
    for wrapped in (failed(failure_of(error)), WorkflowUpdateFailedError(failure_of(error))):
        arrived = perdure_error(wrapped)
        assert type(arrived) is type(error)
        assert (str(arrived), arrived and arrived.carried()) == (str(error), error.carried())


@pytest.mark.parametrize("kind", [kind for kind in every_error() if kind.__module__.startswith("perdure.")])
def test_every_kind_of_error_arrives_as_itself(kind: type[PerdureError]) -> None:
    raised = kind.received(f"{kind.code} it", {})
    assert type(perdure_error(failed(failure_of(raised)))) is kind


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (failed(ApplicationError("PRD101 x: y", type="InvalidTask")), InvalidTask, "PRD101 x: y"),
        (failed(ApplicationError("PRD112 it", "content", type="ToolFailed")), ToolFailed, "PRD112 it"),
        (failed(ApplicationError("KeyError in x", type="KeyError")), WorkflowFailed, "PRD403 KeyError in x"),
        (failed(ApplicationError("no", type="Mapping")), WorkflowFailed, "PRD403 no"),
        (failed(TIMED_OUT), WorkerUnavailable, "PRD204 no worker answered in time: is one running? (perdure worker)"),
        (failed(CancelledError("canceled")), WorkflowCancelled, "PRD404 it was cancelled"),
        (WorkflowFailureError(cause=TerminatedError("by hand")), WorkflowFailed, "PRD403 by hand"),
        (rpc(RPCStatusCode.UNAVAILABLE, "gone"), StoreUnavailable, "PRD200 temporal: unavailable: gone"),
        (rpc(RPCStatusCode.NOT_FOUND, "Namespace x is not found."), NamespaceUnusable, "PRD208 Namespace x"),
        (rpc(RPCStatusCode.NOT_FOUND, "workflow not found"), InvalidInput, "PRD100 id: workflow not found"),
        (rpc(RPCStatusCode.PERMISSION_DENIED, "no"), StoreRefused, "PRD232 temporal refuses this client: no (correct"),
        (RuntimeError("Failed client connect: x"), StoreUnavailable, "PRD200 temporal: does not answer"),
    ],
)
def test_every_error_of_the_client_has_a_code(error: Exception, kind: type[PerdureError], message: str) -> None:
    translation = perdure_error(error)
    assert type(translation) is kind
    assert str(translation).startswith(message)
    assert not (kind in {InvalidInput, StoreRefused} and translation and translation.retryable)


async def test_what_is_not_temporals_is_raised_as_it_is() -> None:
    @translated
    async def fails() -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        await fails()


async def test_a_result_that_cannot_be_read_has_a_code() -> None:
    converter = PerdureConverter()

    @translated
    async def result() -> object:
        return converter.from_payloads(converter.to_payloads([{"status": 7}]), [TaskResult])

    with pytest.raises(WorkflowFailed, match=r"cannot be read by this build: PRD100 task_id: is missing"):
        await result()
    # The control: by itself the converter raises Temporal's own error.
    with pytest.raises(ApplicationError):
        await result.__wrapped__()  # pyright: ignore[reportFunctionMemberAccess]
