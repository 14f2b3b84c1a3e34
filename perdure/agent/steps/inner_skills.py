"""Steps that run another skill: what that skill is given, and what it gives back. Runs none of its steps."""

from typing import Any

from perdure.agent.steps.calls import Ended, Result
from perdure.agent.steps.evaluator import SKIPPED, remembering, runs
from perdure.agent.steps.inner_skill_calls import EnterCall, LeaveCall
from perdure.agent.steps.values import Values, require_fitting
from perdure.errors import ExpectationFailed, InvalidArguments
from perdure.expressions.evaluation import evaluate, holds
from perdure.skills.inputs import filled_inputs, require_checks
from perdure.tools import RESULT_LIMIT
from perdure.values.tasks import StepStatus


async def entering(call: EnterCall, values: Values) -> Ended:
    """Return the inputs of the skill that a step runs; that it is skipped, where its ``when`` is false.

    Raises:
        InvalidArguments: They are not what the skill declares, or it refuses them.
        InvalidExpression: One has no value.
        ResultTooLarge: One is larger than a task can carry.
    """
    names, step = await values.names(call.tenant, call.task_id, call.scope), call.step
    if not runs(step.when, names, call.path):
        return SKIPPED
    field = f"{call.path}.inputs"
    given = {name: evaluate(value, names, f"{field}.{name}") for name, value in step.inputs.items()}
    filled = filled_inputs(call.skill, given, field, InvalidArguments)
    for name, value in filled.items():
        require_fitting(value, f"{field}.{name}", RESULT_LIMIT, "an input")
    require_checks(call.skill, filled, call.path, InvalidArguments)
    how = dict[str, Any](limit=call.inline_limit, epoch=call.epoch)
    inputs = {name: await values.keep(call.tenant, call.task_id, value, **how) for name, value in filled.items()}
    return Ended(result=Result(status=StepStatus.DONE), inputs=inputs)


async def leaving(call: LeaveCall, values: Values) -> Ended:
    """Return the outcome of a step that runs a skill, all of whose steps have ended.

    Raises:
        ExpectationFailed: What the skill promises does not hold.
        InvalidExpression: Its output has no value.
        ResultTooLarge: Its output is larger than a task can carry.
    """
    inner = await values.names(call.tenant, call.task_id, call.inner)
    output = evaluate(call.output, inner, f"{call.path}.output")
    require_fitting(output, f"{call.path}.output", RESULT_LIMIT, "an output")
    if call.expect is not None and not holds(call.expect, {**inner, "output": output}, f"{call.path}.expect"):
        raise ExpectationFailed(f"{call.path}: what the skill {call.step.skill!r} expects does not hold: {call.expect}")
    names = await values.names(call.tenant, call.task_id, call.scope)
    ended = remembering(call, call.step, {**names, "output": output})
    kept = await values.keep(call.tenant, call.task_id, output, limit=call.inline_limit, epoch=call.epoch)
    return ended.changed(result=ended.result.changed(parts={"output": kept}))
