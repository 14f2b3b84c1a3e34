"""What passes between a task's workflow and a step that waits for an event, and what of it needs no activity. Pure."""

import json

from perdure.agent.steps.calls import StepContext, Value, Waits
from perdure.durations import is_duration, moment_of
from perdure.model import Instant, json_size
from perdure.skills.steps import EventStep
from perdure.values.events import TakenEvent

OTHERWISE_INLINE = 128
"""Bytes up to which what counts where a deadline passes waits in the history itself: thousands of steps may wait, and
nothing counts what their branches carry. It is about what a reference takes."""


class ExpectCall(StepContext):
    """The input of the activity that works out which event a step waits for, and until when."""

    step: EventStep
    now: Instant
    """When the wait begins."""


class TakeCall(StepContext):
    """The input of the activity that makes an event the output of its step."""

    step: EventStep
    event: TakenEvent


def known_wait(step: EventStep, now: Instant) -> Waits | None:
    """Return what a step waits for where that is known as it is written; None: it has to be worked out."""
    wait = step.wait
    text = json.dumps([wait.event, wait.deadline, wait.otherwise], ensure_ascii=False)
    if step.when is not None or "${" in text or (wait.deadline is not None and not is_duration(wait.deadline)):
        return None
    otherwise = None if wait.otherwise is None else Value(inline=wait.otherwise)
    if otherwise and json_size(wait.otherwise) > OTHERWISE_INLINE:
        return None
    return Waits(until=moment_of(wait.deadline, now) if wait.deadline else None, event=wait.event, otherwise=otherwise)
