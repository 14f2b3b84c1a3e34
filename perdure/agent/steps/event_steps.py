"""Steps that wait for an event: for which, until when, and what their output is. The waiting is their workflow's."""

from collections.abc import Mapping

from pydantic import JsonValue

from perdure.agent.steps.calls import Ended, Result, Waits
from perdure.agent.steps.evaluator import SKIPPED
from perdure.agent.steps.values import Values, require_fitting
from perdure.agent.steps.wait_calls import OTHERWISE_INLINE, ExpectCall, TakeCall
from perdure.durations import moment_of
from perdure.errors import InvalidExpression
from perdure.expressions.evaluation import evaluate, holds, written
from perdure.values.events import LARGEST_EVENT, event_name
from perdure.values.tasks import StepStatus


async def expecting(call: ExpectCall, values: Values) -> Ended | Waits:
    """Return which event a step waits for, and until when; that it is skipped, where its ``when`` is false.

    Raises:
        InvalidExpression: The event has no name, or the deadline is neither a duration nor a moment, or too far away.
        ResultTooLarge: What counts where the deadline passes is larger than an event may be.
    """
    names = await values.names(call.tenant, call.task_id, call.scope)
    wait, field = call.step.wait, f"{call.path}.wait"
    if call.step.when is not None and not holds(call.step.when, names, f"{call.path}.when"):
        return SKIPPED
    event, until = _text(wait.event, names, f"{field}.event"), None
    try:
        event = event_name(event)
    except ValueError as problem:
        raise InvalidExpression(f"{field}.event", str(problem)) from None
    if wait.deadline is not None:
        try:
            until = moment_of(_text(wait.deadline, names, f"{field}.deadline"), call.now)
        except ValueError as problem:
            raise InvalidExpression(f"{field}.deadline", str(problem)) from None
    if wait.otherwise is None:
        return Waits(until=until, event=event)
    otherwise = evaluate(wait.otherwise, names, f"{field}.otherwise")
    require_fitting(otherwise, f"{field}.otherwise", LARGEST_EVENT, "an event")
    limit = min(call.inline_limit, OTHERWISE_INLINE)
    kept = await values.keep(call.tenant, call.task_id, otherwise, limit=limit, epoch=call.epoch)
    return Waits(until=until, event=event, otherwise=kept)


async def taken(call: TakeCall, values: Values) -> Ended:
    """Return the outcome of a step whose event came."""
    output = await values.keep(call.tenant, call.task_id, call.event.value, limit=call.inline_limit, epoch=call.epoch)
    return Ended(result=Result(status=StepStatus.DONE, parts={"output": output}))


def _text(template: str, names: Mapping[str, JsonValue], field: str) -> str:
    return written(evaluate(template, names, field))
