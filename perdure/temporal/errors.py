"""Perdure's errors on their way through Temporal: as the failures that carry them, and back again for a caller."""

import asyncio
import functools
import json
import re
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar

from pydantic_core import PydanticSerializationError
from temporalio.client import (
    ActivityFailureError,
    RPCError,
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import (
    ApplicationError,
    ApplicationErrorCategory,
    CancelledError,
    FailureError,
    TimeoutError,
)
from temporalio.service import RPCStatusCode

from perdure.error_kinds import KINDS
from perdure.errors import (
    InvalidInput,
    NamespaceUnusable,
    PerdureError,
    StoreRefused,
    StoreUnavailable,
    WorkerUnavailable,
    WorkflowCancelled,
    WorkflowFailed,
)
from perdure.frames import said_by

P = ParamSpec("P")
R = TypeVar("R")

_WRAPPERS = (ActivityFailureError, WorkflowFailureError, WorkflowUpdateFailedError)

FROM_TEMPORAL = (
    *_WRAPPERS,
    FailureError,
    RPCError,
    WorkflowQueryFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
    RuntimeError,
)
"""The exceptions of Temporal's client."""

_NOT_CONNECTED = "Failed client connect"
"""What its RuntimeError begins with when it cannot connect (SDK 1.35)."""

_LOGIN = "correct the API key or the certificate in Temporal's client configuration"

_REFUSED = {
    r"code: (Unauthenticated|PermissionDenied)": ("", _LOGIN),
    r"InvalidCertificate\(\w+|AlertReceived\(\w+|\w+ParseError": ("TLS: ", _LOGIN),
    # A server without TLS, and one that wants it.
    r"InvalidContentType|FRAME_SIZE_ERROR": (
        "only one side speaks TLS: ",
        "switch TLS in Temporal's client configuration; an API key switches it on",
    ),
    # A slim image without the package of certificates.
    r"NativeCertsNotFound": (
        "this machine has no certificate of an authority to trust: ",
        "install them (on Debian and Ubuntu: ca-certificates), or name their file in SSL_CERT_FILE",
    ),
}
"""What that RuntimeError says where a server answers and the next attempt would be refused as well (SDK 1.35)."""


def failure_of(
    error: PerdureError,
    *,
    attempt: str = "",
    next_retry_delay: timedelta | None = None,
    retryable: bool | None = None,
) -> ApplicationError:
    """Return the failure that carries an error through Temporal: its class's name, its message and its parts.

    Its details are texts, which every data converter can carry: what a person may read besides the message, what is
    known of the attempt, and the parts.

    Args:
        error: The error.
        attempt: What is known of the attempt, as JSON.
        next_retry_delay: After how long it is retried; None: as the activity's policy says.
        retryable: Whether it is retried; None: as errors of its class are.
    """
    carried = error.carried()
    return ApplicationError(
        said_by(error),
        "",
        attempt,
        *([json.dumps(carried)] if carried else []),
        type=type(error).__name__,
        non_retryable=not (error.retryable if retryable is None else retryable),
        next_retry_delay=next_retry_delay,
        category=ApplicationErrorCategory.BENIGN if error.benign else ApplicationErrorCategory.UNSPECIFIED,
    )


def translated(method: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """Decorate a coroutine function so that an error of Temporal's client is raised as one of Perdure's.

    So is the error of a text that no encoding can carry.
    """

    @functools.wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await method(*args, **kwargs)
        except PydanticSerializationError as error:
            fix = "send whole characters"
            raise InvalidInput("text", "cannot be encoded: it has half of a surrogate pair", fix=fix) from error
        except FROM_TEMPORAL as error:
            if is_cancelling():
                raise asyncio.CancelledError from error
            translation = perdure_error(error)
            if translation is None:
                raise
            raise translation from error

    return call


def is_cancelling() -> bool:
    """Return whether the caller is being cancelled, by Ctrl-C say: no server is away then."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0


def perdure_error(error: BaseException) -> PerdureError | None:
    """Return the error that one of Temporal's client stands for; None for one that is not Temporal's."""
    if isinstance(error, RPCError):
        return of_call(error)
    if isinstance(error, WorkflowUpdateRPCTimeoutOrCancelledError):
        return StoreUnavailable("temporal", "no answer in time")
    if isinstance(error, WorkflowQueryFailedError):
        return WorkflowFailed(str(error))
    if isinstance(error, RuntimeError):
        return not_connected(error) if str(error).startswith(_NOT_CONNECTED) else None
    if isinstance(error, FailureError):
        # This is not what failed there, but the data converter's refusal of what arrived.
        return WorkflowFailed(f"what it returned cannot be read by this build: {error.message}")
    return _of_failure(_innermost(error)) if isinstance(error, _WRAPPERS) else None


def of_call(error: RPCError) -> PerdureError:
    """Return the error for a refused or an unanswered call: only for the latter another attempt makes sense."""
    match error.status:
        case RPCStatusCode.NOT_FOUND if error.message.startswith("Namespace"):
            return NamespaceUnusable(f"{error.message} (correct it in Temporal's client configuration, or create it)")
        case RPCStatusCode.NOT_FOUND:
            return InvalidInput("id", error.message)
        case RPCStatusCode.INVALID_ARGUMENT:
            return InvalidInput("temporal", error.message)
        case RPCStatusCode.PERMISSION_DENIED | RPCStatusCode.UNAUTHENTICATED:
            return StoreRefused("temporal", error.message, fix=_LOGIN)
        case _:
            return StoreUnavailable("temporal", f"{error.status.name.lower()}: {error.message}")


def not_connected(error: RuntimeError, address: str = "") -> StoreRefused | StoreUnavailable:
    """Return the error that a connection which could not be made stands for."""
    for pattern, (problem, fix) in _REFUSED.items():
        if found := re.search(pattern, str(error)):
            return StoreRefused("temporal", f"{problem}{found[0]}", fix=fix)
    return StoreUnavailable("temporal", f"{address} does not answer".strip())


def _of_failure(failure: BaseException) -> PerdureError:
    if isinstance(failure, CancelledError):
        return WorkflowCancelled("it was cancelled")
    if isinstance(failure, TimeoutError):
        return WorkerUnavailable("no worker answered in time: is one running? (perdure worker)")
    if not isinstance(failure, ApplicationError):
        return WorkflowFailed(failure.message if isinstance(failure, FailureError) else str(failure))
    kind = KINDS.get(failure.type or "")
    if kind is None:
        return WorkflowFailed(failure.message)
    carried = "".join(map(str, failure.details[2:3]))
    return kind.received(failure.message, json.loads(carried) if carried else {})


def _innermost(error: BaseException) -> BaseException:
    """Return the cause of a failure; the outer ones only pass it on."""
    inner = error
    while isinstance(inner, (*_WRAPPERS, FailureError)) and inner.cause:
        inner = inner.cause
    return inner
