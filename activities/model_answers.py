"""One request to a language model, for an answer that can be used."""

from collections.abc import Mapping

from activities.reasoning import had_elsewhere
from perdure.agent.steps.prompt_steps import ASKED, Answered, answer_tools, read_answer
from perdure.errors import ExpectationFailed
from perdure.models.language import LanguageModels
from perdure.models.language.conversation import Instruction
from perdure.skills.steps import InputType
from perdure.temporal.heartbeats import beats


async def answer_of(
    models: LanguageModels,
    name: str,
    *,
    instructions: str,
    request: str,
    fields: Mapping[str, InputType],
    asking: str,
) -> Answered:
    """Return a model's answer to a request; one that cannot be used is asked for again.

    Answers of earlier attempts count with those of this one: how many could not be used, and what they have used.

    Args:
        models: The models of this worker.
        name: Which one; empty: the installation's.
        instructions: What it is to do.
        request: The request.
        fields: The fields of the answer, each with its type; none: it is a text.
        asking: The place that asks, for messages.

    Raises:
        ExpectationFailed: It gives no usable answer, or declines to give one.
        ModelRefused: It refuses the request.
        StoreUnavailable: It does not answer.
        WorkerUnavailable: This worker lacks the model.
    """
    with had_elsewhere():
        model = models.get(name)
    said, problem = [Instruction(text=request)], "no reason is known any more"
    while beats().unusable < ASKED:
        replied = await model.reply(instructions, said, answer_tools(fields))
        # An answer that leads to nothing is paid for as well.
        beats().tokens += replied.usage.total
        if replied.declined:
            raise ExpectationFailed(f"{asking}: the model declines to answer")
        output, problem = read_answer(fields, replied)
        if not problem:
            return Answered(output, beats().tokens)
        beats().unusable += 1
        beats().tell()
        said = [Instruction(text=request), Instruction(text=f"Your last answer cannot be used: {problem}.")]
    raise ExpectationFailed(f"{asking}: {ASKED} answers of the model cannot be used; of the last one, {problem}")
