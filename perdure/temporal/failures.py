"""What surrounds every activity: heartbeats, and errors that cross into Temporal with stable types and no raw text.

Perdure's errors carry their message, which names fields and servers and never content. An unexpected error crosses
as the name of its class alone. The worker's log has where it was raised; its text may quote the value that caused it,
and is not kept.
"""

import traceback
from datetime import timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, CancelledError, FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from perdure.errors import PerdureError, StillRunning, StoreRefused, StoreUnavailable
from perdure.questions import FailedAttempt
from perdure.temporal.errors import failure_of
from perdure.temporal.heartbeats import beating, beats

_log = structlog.get_logger(__name__)

_LONGEST_PAUSE = 30.0


def pause() -> timedelta:
    """Return how long to wait after an attempt that ended with an error.

    The policy's shorter interval is for attempts whose worker died; those can be retried at once.
    """
    return timedelta(seconds=min(_LONGEST_PAUSE, 2.0 ** (min(activity.info().attempt, 10) - 1)))


def details(text: str = "") -> tuple[str, str]:
    """Return the details of a failure: what a person may read beside its message, and what is known of the attempt."""
    said, began = beats(), activity.info().started_time
    return text, FailedAttempt(began=began, arguments=said.arguments, deadline=said.deadline).model_dump_json()


class ActivityInterceptor(Interceptor):
    """Sends the heartbeats of every activity, and turns its errors into failures."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Wrap an activity."""
        return _Inbound(next)


class _Inbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        try:
            async with beating():
                return await self.next.execute_activity(input)
        # It has no public name.
        except (FailureError, CancelledError, activity._CompleteAsyncError):  # pyright: ignore[reportPrivateUsage]
            raise
        except PerdureError as error:
            if isinstance(error, StoreRefused):
                # A worker whose login is refused ends: what was accepted waits for one that is let in.
                error = StoreUnavailable(error.store, str(error))
            _, attempt = details()
            wait = pause() if error.retry_after is None else timedelta(seconds=error.retry_after)
            raise failure_of(error, attempt=attempt, next_retry_delay=wait) from None
        except Exception as error:  # noqa: BLE001  the last boundary: everything becomes a failure
            _log.error(
                "unexpected failure",
                activity=activity.info().activity_type,
                error=type(error).__name__,
                where="".join(traceback.format_tb(error.__traceback__)),
            )
            raise ApplicationError(
                f"{type(error).__name__} in {activity.info().activity_type}; the worker's log has the details",
                *details(),
                type=type(error).__name__,
                next_retry_delay=pause(),
            ) from None


def still_running(what: str, *, again_after: timedelta) -> ApplicationError:
    """Return the failure that means "not yet": benign, so neither logs nor metrics call it an error."""
    return ApplicationError(
        f"{what} is still running",
        type=StillRunning.__name__,
        category=ApplicationErrorCategory.BENIGN,
        next_retry_delay=again_after,
    )
