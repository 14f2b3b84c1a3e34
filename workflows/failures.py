"""What a failed activity means to a workflow. Pure."""

from typing import TypeVar

from temporalio.exceptions import ActivityError, ApplicationError

from perdure.errors import InvalidInput
from perdure.model import Model

_LONGEST = 2_000

M = TypeVar("M", bound=Model)


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
