"""What a ``let`` names: worked out where it stands, each value once. Does not decide who reads it."""

import json

from pydantic import JsonValue

from perdure.agent.steps.calls import Ended, LetCall, Result, Value
from perdure.agent.steps.values import Values
from perdure.errors import InvalidExpression, ResultTooLarge
from perdure.expressions.evaluation import evaluate
from perdure.model import DEEPEST_VALUE, depth
from perdure.tasks import StepStatus
from perdure.tools import RESULT_LIMIT


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
        size = _size(value, field)
        parts[name] = await values.keep(call.tenant, call.task_id, value, limit=left, epoch=call.epoch)
        left -= 0 if parts[name].ref else size
    return Ended(result=Result(status=StepStatus.DONE, parts=parts))


def _size(value: JsonValue, field: str) -> int:
    """Return the bytes of a value as JSON, if a task can carry it."""
    if (levels := depth(value)) > DEEPEST_VALUE:
        raise InvalidExpression(field, f"is nested {levels} deep", fix=f"at most {DEEPEST_VALUE}")
    if (size := len(json.dumps(value, ensure_ascii=False).encode())) > RESULT_LIMIT:
        raise ResultTooLarge(f"{field} has {size:,} bytes, and at most {RESULT_LIMIT:,} can be named")
    return size
