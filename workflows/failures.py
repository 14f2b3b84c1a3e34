"""What a failed activity means to a workflow."""

from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ChildWorkflowError,
    FailureError,
    TimeoutError,
    TimeoutType,
    is_cancelled_exception,
)

from perdure.agent.steps.calls import Asks
from perdure.documents import refuse_unknown
from perdure.errors import (
    Blocked,
    InvalidArguments,
    InvalidInput,
    NotDone,
    TaskFailed,
    TenantErased,
    ToolFailed,
    VersionConflict,
)
from perdure.frames import place_of
from perdure.model import Model
from perdure.names import Activity
from perdure.temporal.errors import failure_of
from perdure.temporal.failures import attempt_of, tokens_of_task
from perdure.tolerance import read_back
from perdure.values.questions import FailedAttempt
from workflows.carried import Carried
from workflows.options import Options

_LONGEST = 2_000

M = TypeVar("M", bound=Model)


def required(argument: M | None, fix: str) -> M:
    """Return a workflow's input. A workflow that was started without one fails; otherwise it would retry for ever.

    Raises:
        ApplicationError: That it is missing, and what to give.
    """
    if argument is None:
        raise failure_of(InvalidInput("input", "is missing", fix=fix))
    return argument


def asked(argument: M | None, fix: str) -> M:
    """Return the input of a workflow that people start; unless an earlier run left it, unknown fields are refused.

    Raises:
        ApplicationError: It is missing, or has an unknown field; with the nearest one.
    """
    argument = required(argument, fix)
    carried = getattr(argument, "carried", None)
    if carried is not None:
        if not (isinstance(carried, Carried) and carried.is_own):
            raise failure_of(InvalidInput("carried", "is not a field here"))
        return argument
    try:
        refuse_unknown(argument)
    except InvalidInput as error:
        raise failure_of(error) from None
    return argument


def is_conflict(error: ActivityError) -> bool:
    """Return whether something was changed by another writer since it was read: it has to be planned again."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == VersionConflict.__name__


def is_erased(error: ActivityError) -> bool:
    """Return whether the user was erased after the change was accepted."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == TenantErased.__name__


def cause_of(error: FailureError) -> BaseException | None:
    """Return what an activity, or a child workflow, failed with; a local activity fails with that alone."""
    return error.cause if isinstance(error, ActivityError | ChildWorkflowError) else error


def is_final(error: FailureError) -> bool:
    """Return whether trying again makes no sense; unless a failure says so, it does."""
    cause = cause_of(error)
    return isinstance(cause, ApplicationError) and cause.non_retryable


def is_of_tool(error: FailureError, *, counts_not_done: bool) -> bool:
    """Return whether a tool was called and itself failed, in a way that counts as an attempt."""
    cause, types = cause_of(error), (ToolFailed.__name__, *([NotDone.__name__] if counts_not_done else []))
    return isinstance(cause, ApplicationError) and cause.type in types


def may_have_acted(error: FailureError, *, was_called: bool = False) -> bool:
    """Return whether what is not tried again may have acted.

    Args:
        error: The failure of a tool's activity, or of working a call out.
        was_called: Whether it is the failure of an activity or a workflow of others, which was called.
    """
    if was_called:
        return not (is_not_done(error) or _is_unprepared(error))
    if isinstance(error, ActivityError) and error.activity_type == Activity.DECIDE_STEP:
        return False
    cause, attempt = cause_of(error), last_attempt(error)
    if not isinstance(cause, ApplicationError) or is_of_tool(error, counts_not_done=False):
        return True
    # Arguments are refused before anything happens, and a policy blocks only effects known not to have happened.
    is_refused = cause.type in (InvalidArguments.__name__, Blocked.__name__)
    return attempt is not None and attempt.acted and not is_refused


def _is_unprepared(error: FailureError) -> bool:
    """Return whether it is that of a task that was refused as it was prepared: it has run no step."""
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, ActivityError) and below.activity_type == Activity.PREPARE_TASK:
            return True
        below = below.__cause__
    return False


def is_not_done(error: FailureError) -> bool:
    """Return whether nothing can have happened: it was never begun, or says so itself."""
    cause = cause_of(error)
    if isinstance(cause, TimeoutError):
        return cause.type is TimeoutType.SCHEDULE_TO_START
    return isinstance(cause, ApplicationError) and cause.type == NotDone.__name__


def tokens_of(error: FailureError) -> int:
    """Return how many tokens models used for what failed, as far as is known."""
    attempt = last_attempt(error)
    return tokens_of_task(cause_of(error)) or (attempt.tokens if attempt is not None else 0)


def asks_of(error: FailureError) -> Asks | None:
    """Return the question for which an activity did not act; None: it failed for another reason."""
    cause = cause_of(error)
    if not isinstance(cause, ApplicationError) or cause.type != Asks.__name__:
        return None
    return read_back(Asks, "".join(map(str, cause.details[2:3])))


def delay_of(error: FailureError) -> timedelta:
    """Return how long a failed activity wants to be left alone before it is tried again."""
    cause = cause_of(error)
    return (cause.next_retry_delay if isinstance(cause, ApplicationError) else None) or timedelta()


def problem_of(error: FailureError) -> str:
    """Return what a person should read of a failed activity; of a tool's own exception, with the line that did."""
    cause, attempt = cause_of(error), last_attempt(error)
    if isinstance(cause, ApplicationError):
        text = next((detail for detail in cause.details[:1] if isinstance(detail, str)), "")
        at = place_of(attempt.frames) if attempt is not None else ""
        return (f"{cause.message}: {text}"[:_LONGEST] if text else cause.message[:_LONGEST]) + at
    return f"{type(cause).__name__ if cause else 'failure'}: {cause or error}"[:_LONGEST]


def cause_named(error: FailureError) -> str:
    """Return the class of the error with which an activity failed in the end: a tool's own, where it raised one."""
    cause, attempt = cause_of(error), last_attempt(error)
    if attempt is not None and attempt.cause:
        return attempt.cause
    return (cause.type if isinstance(cause, ApplicationError) else None) or type(cause).__name__


def text_of(error: FailureError) -> str:
    """Return what a tool itself said of its failure; the message of any other."""
    cause = cause_of(error)
    if not isinstance(cause, ApplicationError):
        return problem_of(error)
    return next((detail for detail in cause.details[:1] if isinstance(detail, str) and detail), cause.message)


def last_attempt(error: FailureError) -> FailedAttempt | None:
    """Return what is known of the last attempt of a failed activity.

    None if it was cut off and could not report, or is an activity of others, whose failures have details of their own.
    """
    cause = cause_of(error)
    return attempt_of(cause) if isinstance(cause, ApplicationError) else None


def is_unfit(error: FailureError) -> bool:
    """Return whether a call was not made, as its arguments do not fit the tool."""
    cause = cause_of(error)
    return isinstance(cause, ApplicationError) and cause.type == InvalidArguments.__name__


async def done(activity: str, call: Model, result_type: type[M], summary: str, options: Options) -> M:
    """Run an activity that a task cannot do without.

    Raises:
        TaskFailed: It failed.
    """
    try:
        return await workflow.execute_activity(activity, call, result_type=result_type, summary=summary, **options)
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        raise TaskFailed(problem_of(error)) from error
