"""How long each activity may take and how it is retried: numbers, each with its reason."""

import dataclasses
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypedDict, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

from perdure.agent.preparation import ToolShape
from perdure.agent.steps.calls import MARGIN, QUICK_SECONDS, longest_attempt
from perdure.durations import duration_of
from perdure.errors import VersionConflict
from perdure.tools import Effect

C = TypeVar("C")
R = TypeVar("R")

RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=0.2), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=30)
)
"""Unbounded: an activity's failure says whether to retry, and after how long. The intervals here are for attempts
whose worker died."""

OUTAGE = timedelta(days=7)
"""How long a step is retried while a store that it needs is away."""

SOON = timedelta(seconds=5)
"""How long a step may take that nothing depends on."""

HEARTBEAT = timedelta(seconds=4)
"""For activities whose worker's settings are unknown: jobs, sweeps and a task's first. A killed worker is noticed
after 4 s."""

SWEEP_ATTEMPTS = 8
"""Tries of one step of a sweep for one tenant, about a minute and a half: then the next tenants have their turn."""

IDLE_PLANS = 5
"""Plans of one tenant in a row after which nothing has left the due set; then it is left to the next sweep."""


_CONFLICT = [VersionConflict.__name__]


class Options(TypedDict):
    """The options of one activity."""

    start_to_close_timeout: timedelta
    schedule_to_close_timeout: timedelta | None
    heartbeat_timeout: timedelta | None
    retry_policy: RetryPolicy
    cancellation_type: workflow.ActivityCancellationType


class LocalOptions(TypedDict):
    """The options of one local activity."""

    start_to_close_timeout: timedelta
    retry_policy: RetryPolicy


def of_tool(shape: ToolShape, heartbeat: float) -> Options:
    """Return the options of a tool's step.

    One that only reads is cut off if the task is cancelled. Any other is waited for: an effect that has begun ends.
    """
    seconds = longest_attempt(shape.timeout) if shape.effect.is_once else shape.timeout + MARGIN
    options = _options(seconds, timedelta(seconds=heartbeat), OUTAGE)
    if shape.effect is not Effect.READ:
        options["cancellation_type"] = workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED
    return options


def of_quick() -> LocalOptions:
    """Return the options of a quick step, which is tried once; what fails goes on as any other step."""
    return LocalOptions(
        start_to_close_timeout=timedelta(seconds=QUICK_SECONDS), retry_policy=RetryPolicy(maximum_attempts=1)
    )


def of_step(heartbeat: float) -> Options:
    """Return the options of steps without a tool: recall, remember, lists, evaluation."""
    return _options(30.0, timedelta(seconds=heartbeat), OUTAGE)


def of_model(seconds: float, heartbeat: float, requests: int) -> Options:
    """Return the options of an activity that asks a language model.

    Cut off before its last request is answered, it would begin again with the first, and each of them is paid for.

    Args:
        seconds: How long each request may take.
        heartbeat: Within how many seconds a worker that is gone is noticed.
        requests: How many it makes at most, one after the other.
    """
    return _options(requests * seconds + MARGIN, timedelta(seconds=heartbeat), OUTAGE)


def of_preparation(*, begins: bool) -> Options:
    """Return the options of a task's first activity, which takes longer where it gathers what thousands of steps left.

    Args:
        begins: Whether the task is to begin at a step.
    """
    return _options(600.0 if begins else 30.0, HEARTBEAT, OUTAGE)


def of_request() -> Options:
    """Return the options of an activity that a caller outside a task waits for, and repeats if it fails.

    It ends before the gateway stops waiting (60 s), so that the caller learns why.
    """
    return _options(20.0, HEARTBEAT, timedelta(seconds=50))


def of_update() -> Options:
    """Return the options of a change of one memory. No overall timeout: it was accepted, also while a store is away."""
    return _options(60.0, HEARTBEAT, None)


def of_delivery(left: timedelta) -> Options:
    """Return the options of a delivery to the webhook, which is tried for so long."""
    return _options(30.0, HEARTBEAT, left)


def of_keeping() -> Options:
    """Return the options of keeping a task's claims: it answers soon, also where Redis is away."""
    return _options(20.0, HEARTBEAT, None)


def of_late_runs() -> Options:
    """Return the options of deleting what began after its user's erasure: what fails is left to the next pass."""
    return _options(300.0, HEARTBEAT, timedelta(minutes=10))


def of_late_keeping() -> Options:
    """Return the options of keeping the claims of a task that ended while Redis was away."""
    return _options(20.0, HEARTBEAT, OUTAGE)


def lasting(duration: str | None) -> timedelta | None:
    """Return how long a duration is that a skill says; None: it says none."""
    return duration_of(duration) if duration else None


def of_ingest() -> Options:
    """Return the options of submitting a job, and of waiting for one for as long as it takes."""
    return _options(60.0, HEARTBEAT, None)


async def change(activity: Callable[[Any, C], Awaitable[R]], call: C, summary: str) -> R:
    """Run a step of a job or an undoing. No overall timeout: an accepted job must eventually finish.

    An attempt may wait for another writer's lease (15 s at most) and then writes for some seconds.
    """
    return await _change(activity, call, summary, RETRY)


async def confirm(activity: Callable[[Any, C], Awaitable[R]], call: C, summary: str) -> R:
    """Run the confirmation of a job. If entries are no longer as they were written, the job is planned again."""
    return await _change(activity, call, summary, dataclasses.replace(RETRY, non_retryable_error_types=_CONFLICT))


async def sweep(activity: Callable[[Any, C], Awaitable[R]], call: C, summary: str) -> R:
    """Run a step of one tenant's sweep; it is given up after ``SWEEP_ATTEMPTS``.

    A version conflict is not retried as it is, but planned again against what is stored by then.
    """
    policy = dataclasses.replace(RETRY, maximum_attempts=SWEEP_ATTEMPTS, non_retryable_error_types=_CONFLICT)
    return await _change(activity, call, summary, policy)


async def long_sweep(activity: Callable[[Any, C], Awaitable[R]], call: C, summary: str) -> R:
    """Run a step of one tenant's sweep that asks a language model: 50 questions, 8 at a time, a minute each at most."""
    options = _options(1_800.0, HEARTBEAT, None)
    options["retry_policy"] = dataclasses.replace(RETRY, maximum_attempts=SWEEP_ATTEMPTS)
    return await workflow.execute_activity_method(activity, call, summary=summary, **options)


async def long(activity: Callable[[Any, C], Awaitable[R]], call: C, summary: str) -> R:
    """Run a step that may read all that is remembered of a user: some minutes for 100,000 entries."""
    options = _options(1_800.0, HEARTBEAT, None)
    return await workflow.execute_activity_method(activity, call, summary=summary, **options)


async def if_soon(activity: Callable[[Any, C], Awaitable[R]], call: C, summary: str) -> R | None:
    """Run an optional step; None if a store does not answer within seconds."""
    options = _options(SOON.total_seconds(), None, SOON)
    try:
        return await workflow.execute_activity_method(activity, call, summary=summary, **options)
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        return None


async def _change(activity: Callable[[Any, C], Awaitable[R]], call: C, summary: str, policy: RetryPolicy) -> R:
    options = of_update()
    options["retry_policy"] = policy
    return await workflow.execute_activity_method(activity, call, summary=summary, **options)


def _options(seconds: float, heartbeat: timedelta | None, total: timedelta | None) -> Options:
    return Options(
        start_to_close_timeout=timedelta(seconds=seconds),
        schedule_to_close_timeout=total,
        heartbeat_timeout=heartbeat,
        retry_policy=RETRY,
        cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
    )
