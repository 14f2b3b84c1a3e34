"""What a call of an activity or a workflow of others leaves for the task: its output, and what is remembered of it."""

from collections.abc import Mapping

from pydantic import JsonValue

from perdure.agent.steps.calls import Ended
from perdure.agent.steps.evaluator import StepEvaluator, failed_after, remembering
from perdure.agent.steps.foreign_calls import EndCall, ForeignCall
from perdure.errors import ExpectationFailed, InvalidExpression, PerdureError
from perdure.expressions.evaluation import holds
from perdure.names import Workflow
from perdure.skills.foreign import TaskStep
from perdure.skills.steps import COMPENSATE
from perdure.tolerance import taken_back
from perdure.values.tasks import TaskResult, tokens_in


async def concluded(
    evaluator: StepEvaluator,
    call: ForeignCall | EndCall,
    names: Mapping[str, JsonValue],
    output: JsonValue,
    warnings: tuple[str, ...],
) -> Ended:
    """Return the outcome of a step whose call has ended well.

    Args:
        evaluator: Keeps what is large.
        call: The step.
        names: What its expressions refer to.
        output: What the call gave back.
        warnings: The soft policies that spoke about it.

    Raises:
        ExpectationFailed: It is not what the step expects, and nothing undoes it.
    """
    step, tokens = call.step, 0
    if isinstance(step, TaskStep) and output is not None:
        result = taken_back(TaskResult, output)
        output, tokens = result.output, result.tokens
    elif step.type_name == Workflow.RESUMABLE_AGENT:
        tokens = tokens_in(output)
    known = {**names, "output": output}
    undoing = await evaluator.compensation(call, step.compensate, names, output)
    try:
        if undoing is not None and undoing.problem:
            raise InvalidExpression(f"{call.path}.{COMPENSATE}", undoing.problem)
        if step.expect is not None and not holds(step.expect, known, f"{call.path}.expect"):
            raise ExpectationFailed(f"{call.path}: the result is not what is expected: {step.expect}")
        ended, parts = remembering(call, step, known), await evaluator.keep(call, {"output": output})
    except PerdureError as problem:
        if undoing is None or problem.retryable:
            raise
        return failed_after(undoing, str(problem)).changed(tokens=tokens)
    how = {"warnings": warnings, "tokens": tokens, "compensation": undoing}
    return ended.changed(result=ended.result.changed(parts=parts), **how)
