"""A question that a workflow asks a person once, until a deadline."""

from contextlib import suppress
from datetime import timedelta

from temporalio import workflow

from perdure.agent.questions import Questions
from perdure.errors import InvalidAnswer
from perdure.temporal.errors import failure_of
from perdure.values.questions import Answer, Question, TakenAnswer


class OneQuestion:
    """One question, and its answer if there is one in time.

    Args:
        question: What to ask.
        over: What to do instead of answering it later, for whoever tries.
    """

    def __init__(self, question: Question, *, over: str = "") -> None:
        self._questions = Questions(())
        self.asked = self._questions.named(question, workflow.now())
        self._questions.ask(self.asked)
        self.ended = ""
        """Why it takes no answer any longer; empty while it does."""
        self._fix = over

    @property
    def open(self) -> tuple[Question, ...]:
        """The question, while it takes an answer."""
        return self._questions.takes

    @property
    def is_answered(self) -> bool:
        """Whether an answer is there to be taken."""
        return self._questions.is_answered(self.asked.id)

    def check(self, answer: Answer) -> None:
        """Refuse an answer that it does not take, with an error for the update's sender."""
        if self.ended:
            raise failure_of(InvalidAnswer("question_id", self.ended, fix=self._fix))
        try:
            self._questions.check(answer)
        except InvalidAnswer as error:
            raise failure_of(error) from None

    def answer(self, answer: Answer) -> None:
        """Record an answer that was checked, at once, so that nothing can come between."""
        self._questions.answer(answer, workflow.now())

    async def answer_within(self, left: timedelta, otherwise: str) -> TakenAnswer | None:
        """Wait for an answer; None, and it is over, where nobody gave one in time.

        Args:
            left: How long to wait.
            otherwise: Why it is over then.
        """
        with suppress(TimeoutError):
            await workflow.wait_condition(lambda: self.is_answered, timeout=left, timeout_summary="for an answer")
        # An answer that came with the last moment was accepted, so it counts.
        if self.is_answered:
            return self._questions.take(self.asked)
        self.end(otherwise)
        return None

    def end(self, why: str) -> None:
        """Take no answer any longer."""
        self._questions.withdraw_all()
        self.ended = why


def asking(question: OneQuestion | None) -> OneQuestion:
    """Return the question that a workflow asks; refuse its answer where there is none."""
    if question is None:
        raise failure_of(InvalidAnswer("question_id", "no question is open"))
    return question
