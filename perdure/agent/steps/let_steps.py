"""What a ``let`` names: worked out where it stands, each value once. Does not decide who reads it."""

from perdure.agent.steps.calls import Ended, LetCall, Result, Value
from perdure.agent.steps.values import Values, require_fitting
from perdure.expressions.evaluation import evaluate
from perdure.tools import RESULT_LIMIT
from perdure.values.tasks import StepStatus


async def named(call: LetCall, values: Values) -> Ended:
    """Return what a ``let`` names. Together, its values take no more room in the history than one result.

    Raises:
        InvalidExpression: A value cannot be worked out, or is nested deeper than a task can carry.
        ResultTooLarge: A value is larger than a result of a step may be.
    """
    names = await values.names(call.tenant, call.task_id, call.scope)
    around, parts, left = call.path.removesuffix(call.step.id), dict[str, Value](), call.inline_limit
    for name, template in call.step.let.items():
        field = f"{around}let.{name}"
        value = evaluate(template, names, field)
        size = require_fitting(value, field, RESULT_LIMIT, "a named value")
        parts[name] = await values.keep(call.tenant, call.task_id, value, limit=left, epoch=call.epoch)
        left -= 0 if parts[name].ref else size
    return Ended(result=Result(status=StepStatus.DONE, parts=parts))
