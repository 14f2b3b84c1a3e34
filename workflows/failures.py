"""What a failed activity means to a workflow. Pure."""

from temporalio.exceptions import ActivityError, ApplicationError

_LONGEST = 2_000


def is_conflict(error: ActivityError) -> bool:
    """Say whether something was changed by somebody else since it was read: it has to be planned again."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == "VersionConflict"


def problem_of(error: ActivityError) -> str:
    """Give what a person should read of a failed activity."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        text = ": ".join(str(detail) for detail in cause.details[:1] if detail)
        return f"{cause.message}: {text}"[:_LONGEST] if text else cause.message[:_LONGEST]
    return f"{type(cause).__name__ if cause else 'failure'}: {cause or error}"[:_LONGEST]
