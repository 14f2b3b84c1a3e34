"""Attempts at steps: each has a span, and what is logged during one names its task and its step.

A tool logs with Python's ``logging`` or structlog, and need not know any of this.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import structlog
from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from perdure.agent.steps.calls import Ended, StepCall, StepContext
from perdure.agent.turns import Compressed, Reasoned
from perdure.errors import InvalidInput, NotDone, PerdureError, ToolFailed
from perdure.frames import Frame, class_of, frames_of, own, said_by
from perdure.names import Activity
from perdure.temporal.failures import attempt_of, is_of_tools_own
from perdure.values.questions import FailedAttempt

_log = structlog.get_logger(__name__)

_ASKED: Mapping[str, type[Reasoned | Compressed]] = {"reasoned": Reasoned, "compressed": Compressed}
"""The parts of a step's result that say what asking the model of a task with a goal took."""


class AttemptInterceptor(Interceptor):
    """Gives each attempt at a step a span, tags what it logs, and logs in one line why an attempt failed.

    Args:
        content: Whether the messages of tools' exceptions may be logged, as they may quote what the tool was given.
    """

    def __init__(self, *, content: bool = False) -> None:
        self._content = content

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Wrap an activity."""
        return _Inbound(next, content=self._content)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, *, content: bool) -> None:
        super().__init__(next)
        self._content = content

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        call = next((one for one in input.args if isinstance(one, StepContext)), None)
        with _observed(call) as span:
            try:
                outcome = await self.next.execute_activity(input)
            except (PerdureError, ApplicationError) as error:
                self._failed(error, span)
                raise
            span.set_attributes(_came_to(outcome))
            return outcome

    def _failed(self, error: PerdureError | ApplicationError, span: Span) -> None:
        if isinstance(error, ApplicationError) and error.category is ApplicationErrorCategory.BENIGN:
            return
        attempt, text = _reported(error)
        kind = (attempt.cause if attempt else "") or _type_of(error)
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR))
        span.add_event("exception", {"exception.type": kind, "exception.message": text})
        frames = _own_lines(error, attempt)
        if frames:
            span.set_attributes(_place(frames[0]))
        told: dict[str, Any] = {"where": [frame.told for frame in frames]} if frames else {}
        if text and self._content:
            told["text"] = text
        info = activity.info()
        problem = _problem(error, attempt, content=self._content)
        _log.warning("attempt failed", activity=info.activity_type, attempt=info.attempt, problem=problem, **told)


def _came_to(outcome: object) -> dict[str, str | int]:
    """Return how a step ended, and the tokens that a model read and wrote for it."""
    if not isinstance(outcome, Ended):
        return {}
    told: dict[str, str | int] = {"perdure.step.status": outcome.result.status.value}
    if outcome.tokens:
        told["perdure.step.tokens"] = outcome.tokens
    for part, kind in _ASKED.items():
        if (found := outcome.result.parts.get(part)) is not None:
            used = kind.model_validate(found.inline)
            told |= {"gen_ai.usage.input_tokens": used.read, "gen_ai.usage.output_tokens": used.written}
    return told


def _own_lines(error: PerdureError | ApplicationError, attempt: FailedAttempt | None) -> tuple[Frame, ...]:
    if attempt is not None:
        return own(attempt.frames)
    return own(frames_of(error)) if is_of_tools_own(error) else ()


def _problem(error: PerdureError | ApplicationError, attempt: FailedAttempt | None, *, content: bool) -> str:
    if not isinstance(error, ApplicationError):
        return logged(error, content=content)
    # The message of ToolFailed names the class alone.
    if content or attempt is None or not attempt.cause or error.type == ToolFailed.__name__:
        return error.message
    return f"{NotDone.code} {attempt.cause}"


def logged(error: PerdureError, *, content: bool) -> str:
    """Return what a log may say of an error: what a refusal or a tool says of a value may quote it.

    >>> logged(InvalidInput("items[0].payload", "'tea' is no number"), content=False)
    'PRD100 items[0].payload'
    """
    if not content and isinstance(error, InvalidInput):
        return f"{error.code} {error.field}"
    return f"{error.code} {class_of(error)}" if not content and is_of_tools_own(error) else said_by(error)


@contextmanager
def _observed(call: StepContext | None) -> Generator[Span]:
    if call is None:
        yield trace.INVALID_SPAN
        return
    attributes = {"perdure.task": call.task_id, "perdure.step": call.path, "perdure.attempt": activity.info().attempt}
    name = activity.info().activity_type
    if isinstance(call, StepCall) and name != Activity.DECIDE_STEP:
        name = f"execute_tool {call.step.tool}"
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.step.tool}
    with (
        structlog.contextvars.bound_contextvars(task=call.task_id, step=call.path),
        trace.get_tracer("perdure.steps").start_as_current_span(
            name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span,
    ):
        yield span


def _reported(error: PerdureError | ApplicationError) -> tuple[FailedAttempt | None, str]:
    """Return what a failure tells of its attempt, and what the tool's own exception said."""
    if not isinstance(error, ApplicationError):
        return None, ""
    return attempt_of(error), "".join(map(str, error.details[:1]))


def _type_of(error: PerdureError | ApplicationError) -> str:
    return (error.type if isinstance(error, ApplicationError) else None) or type(error).__name__


def _place(frame: Frame) -> dict[str, str | int]:
    """Return where an exception was raised, by OpenTelemetry's names for code."""
    return {"code.file.path": frame.file, "code.line.number": frame.line, "code.function.name": frame.function}
