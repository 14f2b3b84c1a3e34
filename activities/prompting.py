"""Steps that a language model answers."""

from functools import partial

from temporalio import activity

from activities.episodes import SessionWriter
from activities.reasoning import had_elsewhere
from perdure.agent.steps.calls import Ended, PromptCall
from perdure.agent.steps.prompting import ASKED, INSTRUCTIONS, Answered, answer_tools, read_answer
from perdure.agent.steps.runner import StepRunner
from perdure.errors import ExpectationFailed
from perdure.models.language import LanguageModels
from perdure.models.language.conversation import Instruction
from perdure.names import Activity


class PromptActivities:
    """Has models answer steps.

    Args:
        models: The models.
        runner: Runs the part that all steps have in common.
        session: Records what a step has learned.
    """

    def __init__(self, models: LanguageModels, runner: StepRunner, session: SessionWriter) -> None:
        self._models = models
        self._runner = runner
        self._session = session

    @activity.defn(name=Activity.PROMPT_STEP)
    async def prompt_step(self, call: PromptCall) -> Ended:
        """Return a model's answer to a step.

        Raises:
            ExpectationFailed: It gives no usable answer, or not what is expected.
            ModelRefused: It refuses the request.
            StoreUnavailable: It does not answer.
            WorkerUnavailable: This worker lacks the model.
        """
        outcome = await self._runner.prompt(call, partial(self._answer, call))
        await self._session.remembered(call, outcome)
        return outcome

    async def _answer(self, call: PromptCall, request: str) -> Answered:
        with had_elsewhere():
            model = self._models.get(call.step.model)
        fields, said, used, problem = call.step.output, [Instruction(text=request)], 0, ""
        for _ in range(ASKED):
            replied = await model.reply(INSTRUCTIONS, said, answer_tools(fields))
            used += replied.usage.total
            if replied.declined:
                raise ExpectationFailed(f"{call.path}: the model declines to answer")
            output, problem = read_answer(fields, replied)
            if not problem:
                return Answered(output, used)
            said = [Instruction(text=request), Instruction(text=f"Your last answer cannot be used: {problem}.")]
        raise ExpectationFailed(f"{call.path}: {ASKED} answers of the model cannot be used; of the last one, {problem}")
