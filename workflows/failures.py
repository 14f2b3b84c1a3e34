"""What a failed activity means to a workflow."""

from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from perdure.errors import InvalidInput
from perdure.model import Model
from workflows.options import Options

_LONGEST = 2_000

M = TypeVar("M", bound=Model)


class TaskFailed(Exception):
    """Ends a task with what a person should read."""


def required(argument: M | None, missing: InvalidInput) -> M:
    """Return a workflow's input. A workflow that was started without one fails; otherwise it would retry for ever.

    Raises:
        ApplicationError: That it is missing.
    """
    if argument is None:
        raise ApplicationError(str(missing), type=type(missing).__name__, non_retryable=True)
    return argument


def is_conflict(error: ActivityError) -> bool:
    """Return whether something was changed by another writer since it was read: it has to be planned again."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == "VersionConflict"


def is_erased(error: ActivityError) -> bool:
    """Return whether the user was erased after the change was accepted."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == "TenantErased"


def problem_of(error: ActivityError) -> str:
    """Return what a person should read of a failed activity."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        text = ": ".join(str(detail) for detail in cause.details[:1] if detail)
        return f"{cause.message}: {text}"[:_LONGEST] if text else cause.message[:_LONGEST]
    return f"{type(cause).__name__ if cause else 'failure'}: {cause or error}"[:_LONGEST]


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
