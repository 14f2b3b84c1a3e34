"""The evaluation of what a task gives back: by a rule, and by a language model where one is named as the judge."""

from typing import Any

from temporalio import activity

from activities.model_answers import answer_of
from perdure.agent.steps.evaluator import StepEvaluator
from perdure.agent.steps.judgements import FIELDS, INSTRUCTIONS, Judged, judgement_of, unjudged
from perdure.agent.steps.task_calls import EvaluateCall, Evaluated
from perdure.errors import ExpectationFailed
from perdure.models.errors import ModelRefused
from perdure.models.language import LanguageModels
from perdure.names import Activity
from perdure.temporal.heartbeats import beats


class EvaluationActivities:
    """Evaluates tasks.

    Args:
        evaluator: Evaluates expressions.
        models: The models that judge.
    """

    def __init__(self, evaluator: StepEvaluator, models: LanguageModels) -> None:
        self._evaluator = evaluator
        self._models = models

    @activity.defn(name=Activity.EVALUATE_TASK)
    async def evaluate_task(self, call: EvaluateCall) -> Evaluated:
        """Return a task's output, and what its ``expect`` and its ``judge`` say of it.

        Raises:
            StoreUnavailable: The model that judges it does not answer.
            WorkerUnavailable: This worker lacks that model.
        """
        name = call.judge.model if call.judge else ""

        async def judge(request: str) -> Judged:
            try:
                how: Any = {"instructions": INSTRUCTIONS, "request": request, "fields": FIELDS, "asking": "judge"}
                return judgement_of(await answer_of(self._models, name, **how))
            except (ExpectationFailed, ModelRefused) as problem:
                # All steps have ended: what they did is not to be lost because nobody can judge it.
                return unjudged(str(problem), beats().tokens)

        return await self._evaluator.evaluate(call, judge)
