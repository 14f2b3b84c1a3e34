"""The evaluation of what a task gives back, once all its steps have ended."""

from temporalio.exceptions import ActivityError

from perdure.agent.preparation import PreparedTask
from perdure.agent.steps.judgements import Judged, unjudged
from perdure.agent.steps.prompt_steps import ASKED
from perdure.agent.steps.task_calls import EvaluateCall, Evaluated
from perdure.errors import TaskFailed
from perdure.names import Activity
from perdure.values.tasks import Evaluation
from workflows import options
from workflows.failures import done, is_final, tokens_of


async def evaluate(prepared: PreparedTask, call: EvaluateCall, spent: str) -> Evaluated:
    """Return a task's output, and what is said of it.

    Args:
        prepared: What the task is pinned to.
        call: What is evaluated.
        spent: Why no model may be asked any more; empty: one may.

    Raises:
        TaskFailed: It has no output.
    """
    how, away = options.of_step(prepared.heartbeat), None
    if call.judge is not None and spent:
        away = unjudged(spent)
    elif call.judge is not None:
        judging = options.of_model(prepared.model_timeout, prepared.heartbeat, ASKED)
        try:
            return await _evaluated(call, judging)
        except TaskFailed as failure:
            away = _away(failure)
            if away is None:
                raise
    evaluated = await _evaluated(call.changed(judge=None), how)
    if away is None:
        return evaluated
    before = evaluated.evaluation.judgements if evaluated.evaluation else ()
    return evaluated.changed(evaluation=Evaluation(judgements=(*before, away.judgement)), tokens=away.tokens)


async def _evaluated(call: EvaluateCall, how: options.Options) -> Evaluated:
    return await done(Activity.EVALUATE_TASK, call, Evaluated, "output and expectation", how)


def _away(failure: TaskFailed) -> Judged | None:
    """Return the judgement of a judge that did not answer for as long as it was waited for; None: it was not that.

    What the steps did is not to be undone because nobody can judge it.
    """
    error = failure.__cause__
    if not isinstance(error, ActivityError) or is_final(error):
        return None
    return unjudged(str(failure.args[0]), tokens_of(error))
