"""What is refused: of requests by people and programs outside, and by a store that cannot hold it.

``perdure.error_kinds`` draws these errors with all others.
"""

from collections.abc import Mapping

from perdure.base_error import InvalidInput, PerdureError
from perdure.plurals import counted


class UnknownThing(InvalidInput):
    """An id under which there is nothing, or nothing of this user's; it never says which of the two."""

    code = "PRD116"


class AnswerUnusable(PerdureError):
    """Another service answers with something that cannot be used: it is none of the kind, or of another build."""

    code = "PRD234"


class ContentRefused(PerdureError):
    """Entries that long-term memory refuses for what is in them: it would refuse them again.

    Args:
        reasons: Why, by the id of each; what is not named was written.
    """

    code = "PRD235"
    reasons: Mapping[str, str] = {}

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = reasons
        told = "; ".join(sorted({*reasons.values()}))
        super().__init__(f"weaviate refuses {counted(len(reasons), 'entry')}: {told}")


class NotAuthenticated(PerdureError):
    """A request to a service without a token, or with one that does not count; it tells nothing of those that do."""

    code = "PRD500"


class NotPermitted(PerdureError):
    """A token that does not permit what it is used for, or a form that was not sent from its own page."""

    code = "PRD501"


class TooManyRequests(PerdureError):
    """Requests that come too often.

    Args:
        problem: What came too often.
        retry_after: Seconds after which it makes sense to ask again.
    """

    code = "PRD502"
    retryable = True

    def __init__(self, problem: str, *, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"{problem} (ask again in {retry_after:.0f} s)")


class KeyReused(PerdureError):
    """An idempotency key that was sent before, with another request."""

    code = "PRD503"


class RequestRefused(PerdureError):
    """A request to a service that is refused as a whole: it could not be read."""

    code = "PRD510"


class NoSuchPath(RequestRefused):
    """A path that the service does not have."""

    code = "PRD511"


class NoSuchMethod(RequestRefused):
    """A method that the service does not have at a path."""

    code = "PRD512"


class BodyTooLarge(RequestRefused):
    """A body of more bytes than the service reads."""

    code = "PRD513"


class BodyUnsupported(RequestRefused):
    """A body that is no JSON in UTF-8 by what its headers say."""

    code = "PRD514"


class BodyTooSlow(RequestRefused):
    """A body that did not arrive in time."""

    code = "PRD515"


def oversteps(error: Exception) -> bool:
    """Return whether an error refuses somebody who asked for what their token does not permit, or for another user."""
    return isinstance(error, NotPermitted) or (isinstance(error, UnknownThing) and error.field == "user_id")
