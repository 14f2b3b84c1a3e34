"""Until when a step waits: worked out once, when the wait begins. The waiting itself is its workflow's."""

from perdure.agent.steps.calls import Ended, WaitCall, Waits
from perdure.agent.steps.evaluator import SKIPPED
from perdure.agent.steps.values import Values
from perdure.durations import moment_of
from perdure.errors import InvalidExpression
from perdure.expressions.evaluation import evaluate, holds, written


async def waiting(call: WaitCall, values: Values) -> Ended | Waits:
    """Return until when a step waits; that it is skipped, where its ``when`` is false.

    Raises:
        InvalidExpression: It gives neither a duration nor a moment, or one that is too far away.
    """
    names = await values.names(call.tenant, call.task_id, call.scope)
    step, field = call.step, f"{call.path}.wait"
    if step.when is not None and not holds(step.when, names, f"{call.path}.when"):
        return SKIPPED
    try:
        return Waits(until=moment_of(written(evaluate(step.wait, names, field)), call.now))
    except ValueError as problem:
        raise InvalidExpression(field, str(problem)) from None
