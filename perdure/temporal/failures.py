"""What surrounds every activity: heartbeats, and errors that cross into Temporal with stable types and no raw text.

Perdure's errors carry their message, which names fields and servers and never content; that of a ``NotDone`` is the
tool's own, and is told only where what a tool's exception says is. An unexpected error crosses
as the name of its class alone. The worker's log has where it was raised; its text may quote the value that caused it,
and is not kept.
"""

import traceback
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, CancelledError, FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from perdure.errors import NotDone, PerdureError, StillRunning, StoreRefused, TaskFailed
from perdure.frames import Frame, class_of, frames_of, is_perdures
from perdure.models.errors import ModelKeyRefused
from perdure.temporal.errors import failure_of
from perdure.temporal.heartbeats import beating, beats
from perdure.tolerance import read_back
from perdure.values.questions import FailedAttempt
from perdure.values.tasks import tokens_in

_log = structlog.get_logger(__name__)

_LONGEST_PAUSE = 30.0

_LONGEST_PAUSE_REFUSED = 300.0
"""Seconds; a choice: somebody has to correct a login or its rights before another attempt can succeed."""

REFUSED_FOR = timedelta(days=7)
"""For how long an activity is retried whose worker is refused: as long as a step waits for a store that is away."""


def pause(*, refused: bool = False) -> timedelta:
    """Return how long to wait after an attempt that ended with an error.

    The policy's shorter interval is for attempts whose worker died; those can be retried at once.

    Args:
        refused: Whether the worker was refused.
    """
    longest = _LONGEST_PAUSE_REFUSED if refused else _LONGEST_PAUSE
    return timedelta(seconds=min(longest, 2.0 ** (min(activity.info().attempt, 10) - 1)))


def details(text: str = "", cause: str = "", frames: tuple[Frame, ...] = ()) -> tuple[str, str]:
    """Return the details of a failure: what a person may read besides its message, and what is known of the attempt."""
    said, began = beats(), activity.info().started_time
    attempt = FailedAttempt(
        began=began,
        arguments=said.arguments,
        cause=cause[:200],
        deadline=said.deadline,
        acted=said.acted,
        tokens=said.tokens,
        frames=frames,
    )
    return text, attempt.model_dump_json()


def details_of(error: PerdureError) -> tuple[str, str]:
    """Return the details of the failure that carries an error; of a tool's own, with its class and its lines."""
    return details("", class_of(error), frames_of(error)) if is_of_tools_own(error) else details()


def is_of_tools_own(error: BaseException) -> bool:
    """Return whether a tool itself says that it did nothing: its words may quote what it was given."""
    return isinstance(error, NotDone) and not is_perdures(error)


def attempt_of(failure: ApplicationError) -> FailedAttempt | None:
    """Return what a failure's ``details`` tell of the attempt.

    None for one that was cut off and could not report, and for what others raise, which has details of its own.
    """
    said = "".join(map(str, failure.details[1:2]))
    # Raised in a workflow, what cannot be read would stop it for good.
    with suppress(ValueError):
        return read_back(FailedAttempt, said) if said else None
    return None


def tokens_of_task(failure: BaseException | None) -> int:
    """Return how many tokens models used for a task, of the failure of its workflow; 0 for any other failure."""
    if not isinstance(failure, ApplicationError) or failure.type != TaskFailed.__name__:
        return 0
    # Whose workflow it was is not known: its details may be anybody's.
    return tokens_in(next(iter(failure.details), None))


class ActivityInterceptor(Interceptor):
    """Sends the heartbeats of every activity, and turns its errors into failures.

    What refuses this worker is logged once for each activity, by name and with the fix, as only a person can end it.
    """

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Wrap an activity."""
        return _Inbound(next, self._told)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, told: set[tuple[str, str]]) -> None:
        super().__init__(next)
        self._told = told

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        try:
            async with beating():
                return await self.next.execute_activity(input)
        # It has no public name.
        except (FailureError, CancelledError, activity._CompleteAsyncError):  # pyright: ignore[reportPrivateUsage]
            raise
        except PerdureError as error:
            _, attempt = details_of(error)
            wait = pause() if error.retry_after is None else timedelta(seconds=error.retry_after)
            retryable = error.retryable
            if refusal := _refusal(error):
                self._tell(refusal)
                wait = pause(refused=True)
                # Another worker may be accepted, and so may this one once its rights are corrected.
                retryable = (retryable or isinstance(error, StoreRefused)) and _tried_for() < REFUSED_FOR
            raise failure_of(error, attempt=attempt, next_retry_delay=wait, retryable=retryable) from None
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

    def _tell(self, refusal: PerdureError) -> None:
        told = (activity.info().activity_type, str(refusal))
        if told not in self._told:
            self._told.add(told)
            _log.error("this worker is refused", activity=told[0], problem=told[1])


def _refusal(error: PerdureError) -> PerdureError | None:
    """Return the refusal of this worker that an error is or wraps."""
    return next((one for one in (error, error.__cause__) if isinstance(one, StoreRefused | ModelKeyRefused)), None)


def _tried_for() -> timedelta:
    return datetime.now(UTC) - activity.info().scheduled_time


def still_running(what: str, *, again_after: timedelta) -> ApplicationError:
    """Return the failure that means "not yet": benign, so neither logs nor metrics call it an error."""
    return ApplicationError(
        f"{what} is still running",
        type=StillRunning.__name__,
        category=ApplicationErrorCategory.BENIGN,
        next_retry_delay=again_after,
    )
