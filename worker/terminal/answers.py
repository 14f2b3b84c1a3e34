"""Questions asked in the terminal in which somebody follows a task, converses, or looks through the inbox."""

from perdure.documents import validated
from perdure.errors import InvalidAnswer, InvalidInput
from perdure.values.changes import Actor
from perdure.values.questions import Answer, Question
from worker.gateway import Gateway
from worker.terminal.conversation import TypedLines
from worker.terminal.display import about
from worker.terminal.output import say


async def asked(
    installation: Gateway, workflow_id: str, question: Question, lines: TypedLines, *, by: Actor, skips: bool = False
) -> bool:
    """Ask a question until an answer to it is taken.

    Args:
        installation: Takes the answer.
        workflow_id: What asks.
        question: The question.
        lines: What is typed; what was typed before is no answer.
        by: Who answers.
        skips: Whether an empty line leaves the question open.

    Returns:
        Whether more can be typed: False at the end of what is typed.

    Raises:
        InvalidTask: What asked has ended.
    """
    say(f"\n{about(question)}")
    with lines.answering():
        while (value := await lines.next("answer: ", blank=skips)) is not None:
            if not value:
                return True
            try:
                given = validated(Answer, {"question_id": question.id, "value": value}, "", InvalidAnswer)
                await installation.answer(workflow_id, given, by=by)
            except InvalidInput as error:
                say(str(error))
            else:
                return True
    return False
