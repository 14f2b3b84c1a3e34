"""Steps that a language model answers."""

from typing import Any

from temporalio import activity

from activities.model_answers import answer_of
from perdure.agent.steps.calls import Ended, PromptCall
from perdure.agent.steps.prompt_steps import INSTRUCTIONS, Answered
from perdure.agent.steps.runner import StepRunner
from perdure.models.language import LanguageModels
from perdure.names import Activity
from perdure.temporal.heartbeats import beats


class PromptActivities:
    """Has models answer steps.

    Args:
        models: The models.
        runner: Runs the part that all steps have in common.
    """

    def __init__(self, models: LanguageModels, runner: StepRunner) -> None:
        self._models = models
        self._runner = runner

    @activity.defn(name=Activity.PROMPT_STEP)
    async def prompt_step(self, call: PromptCall) -> Ended:
        """Return a model's answer to a step.

        Raises:
            ExpectationFailed: It gives no usable answer, or not what is expected.
            ModelRefused: It refuses the request.
            StoreUnavailable: It does not answer.
            WorkerUnavailable: This worker lacks the model.
        """
        step = call.step

        async def answer(request: str) -> Answered:
            how: Any = {"instructions": INSTRUCTIONS, "fields": step.output, "asking": call.path}
            return await answer_of(self._models, step.model, request=request, **how)

        return await self._runner.prompt(call, answer, beats())
