"""What a service's refusal is: the error that it was there, with its field and its fix. Pure."""

from collections.abc import Mapping
from typing import Any, cast

from perdure.error_kinds import KINDS
from perdure.errors import InvalidInput, PerdureError, StoreUnavailable, Unavailable
from perdure.refusals import NotAuthenticated, RequestRefused, TooManyRequests

SERVICE = "memory service"
"""What the service is called among the stores."""

_AGAIN = (408, 425, 429, 500, 502, 503, 504)
"""Statuses after which the same request makes sense again."""


def is_worth_another(status: int) -> bool:
    """Return whether the same request may be answered otherwise the next time."""
    return status in _AGAIN


def is_passing(error: PerdureError) -> bool:
    """Return whether what a service says ends by itself: something that it lacks for now, or too many requests."""
    return isinstance(error, Unavailable | TooManyRequests)


def problem_of(status: int, answer: object, retry_after: float | None = None) -> PerdureError:
    """Return the error that an answer is.

    Args:
        status: Its status, 400 or more.
        answer: Its body as JSON, problem details (RFC 9457) as a rule; None: it is none.
        retry_after: Seconds after which the service wants to be asked again, if it says so.
    """
    told: Mapping[str, Any] = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    detail = str(told.get("detail") or told.get("message") or told.get("error") or f"it answers {status}")
    kind = KINDS.get(str(told.get("title")))
    if kind is not None and kind.code == told.get("code"):
        error = kind.received(detail, {"store": SERVICE, "problem": detail, **_texts(told)})
    elif status == 401:
        error = NotAuthenticated(detail)
    elif status == 429:
        error = TooManyRequests(detail, retry_after=retry_after or 1.0)
    elif status == 422:
        error = InvalidInput(str(told.get("field") or "request"), detail, fix=str(told.get("fix") or ""))
    elif is_worth_another(status):
        error = StoreUnavailable(SERVICE, detail)
    else:
        error = RequestRefused(detail)
    error.retry_after = retry_after
    return error


def _texts(told: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in told.items() if isinstance(value, str)}
