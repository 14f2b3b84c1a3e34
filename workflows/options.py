"""How long each activity of a task may take and how it is retried. Numbers only, each with its reason."""

import dataclasses
from datetime import timedelta
from typing import TypedDict

from temporalio import workflow
from temporalio.common import RetryPolicy

from perdure.agent.steps.calls import ToolShape

RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=0.2), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=30)
)
"""Without a bound: activities say themselves when trying again is of no use, and else how long to wait. The pauses
here are for attempts whose worker died."""

PATIENCE = timedelta(days=7)
"""How long a step is tried at most, while a store that it cannot do without is away."""

MARGIN = 10.0
"""Seconds that an attempt has for everything around the tool itself."""

UNPREPARED_HEARTBEAT = timedelta(seconds=4)
"""For a task's first activity, when the settings of the worker are not yet known."""


JOB_HEARTBEAT = timedelta(seconds=4)
"""For jobs and sweeps, whose worker's settings are not known: a killed one is noticed after 4 s."""


class Options(TypedDict):
    """The options of one activity."""

    start_to_close_timeout: timedelta
    schedule_to_close_timeout: timedelta | None
    heartbeat_timeout: timedelta | None
    retry_policy: RetryPolicy


def of_tool(shape: ToolShape, heartbeat: float) -> Options:
    """Give the options of a tool's step.

    An attempt at a once tool may have to wait until the claim of a dead one has run out, then ask the
    tool's check, and then act: three times what the tool itself may take.
    """
    times = 3 if shape.effect.is_once else 1
    return _options(times * shape.timeout + MARGIN, timedelta(seconds=heartbeat), PATIENCE)


def of_step(heartbeat: float) -> Options:
    """Give the options of our own steps: recall, remember, lists, evaluation."""
    return _options(30.0, timedelta(seconds=heartbeat), PATIENCE)


def of_preparation() -> Options:
    """Give the options of a task's first activity."""
    return _options(30.0, UNPREPARED_HEARTBEAT, PATIENCE)


def of_ingest() -> Options:
    """Give the options of submitting a job and of waiting for one, which goes on for as long as the job does."""
    return _options(60.0, JOB_HEARTBEAT, None)


def of_change() -> Options:
    """Give the options of a step of a job or a sweep: no end of patience, since what was accepted has to end well.

    An attempt may wait for another writer's lease (15 s at most) and then writes for some seconds. A
    version conflict is not repeated as it is: it is planned again, with what is stored by now.
    """
    options = _options(60.0, JOB_HEARTBEAT, None)
    options["retry_policy"] = dataclasses.replace(RETRY, non_retryable_error_types=["VersionConflict"])
    return options


def _options(seconds: float, heartbeat: timedelta | None, patience: timedelta | None) -> Options:
    return Options(
        start_to_close_timeout=timedelta(seconds=seconds),
        schedule_to_close_timeout=patience,
        heartbeat_timeout=heartbeat,
        retry_policy=RETRY,
    )


def is_due(limit: int = 0) -> bool:
    """Say whether this run should continue as new.

    Args:
        limit: Events after which it should, if not when the server suggests it.
    """
    info = workflow.info()
    return info.is_continue_as_new_suggested() or bool(limit and info.get_current_history_length() >= limit)
