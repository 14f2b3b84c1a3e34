"""What is said of a failure, and with which status the command ends."""

import shlex

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    FailureError,
    RetryState,
    TimeoutError,
    TimeoutType,
)

from perdure.questions import Approval, Question, QuestionKind, choice_of
from perdure.tasks import TaskResult
from worker.cli.display import how_to_answer, result_in
from worker.cli.output import Exit, counted, reason_of, status_of


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


@pytest.mark.parametrize(
    ("cause", "reason", "status"),
    [
        (ApplicationError("PRD101 skill: is missing", type="InvalidTask"), "PRD101 skill: is missing", Exit.REFUSED),
        (ApplicationError("PRD111 a: no", type="ExpectationFailed"), "PRD111 a: no", Exit.FAILED),
        (ApplicationError("PRD200 redis: down", type="StoreUnavailable"), "PRD200 redis: down", Exit.UNAVAILABLE),
        (
            TimeoutError("timed out", type=TimeoutType.SCHEDULE_TO_CLOSE, last_heartbeat_details=[]),
            "no worker answered in time: is one running? (perdure worker)",
            Exit.UNAVAILABLE,
        ),
        (CancelledError("Workflow execution canceled"), "it was cancelled", Exit.FAILED),
    ],
)
def test_the_innermost_failure_counts(cause: FailureError, reason: str, status: Exit) -> None:
    error = failed(cause)

    assert (reason_of(error), status_of(error)) == (reason, status)


def test_a_failed_task_has_left_its_result() -> None:
    left = TaskResult(task_id="t", status="failed", done=3)
    cause = ApplicationError("why", left.model_dump(mode="json"), type="TaskFailed")

    assert result_in(WorkflowFailureError(cause=cause)) == left
    assert result_in(WorkflowFailureError(cause=ApplicationError("why", type="InvalidTask"))) is None


def test_the_command_that_answers_can_be_pasted_into_a_shell() -> None:
    question = Question(id="rows[0].a*", kind=QuestionKind.APPROVAL, text="May it?", answer=choice_of(Approval))
    first, second = how_to_answer("task-1", question).splitlines()

    assert first == "? May it? [yes | no]"
    assert shlex.split(second) == ["perdure", "answer", "task-1", "rows[0].a*", "ANSWER"]


def test_nouns_follow_their_number() -> None:
    assert [counted(0, "item"), counted(1, "item"), counted(2, "entry", "entries")] == [
        "0 items",
        "1 item",
        "2 entries",
    ]
