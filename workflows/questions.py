"""The questions of one task and their answers: who may answer what, and only once. Asks nobody itself."""

from perdure.errors import InvalidAnswer
from perdure.model import Instant
from perdure.tasks import Answer, Question


class Questions:
    """Open questions, and answers that were given.

    Args:
        answered: Ids of questions that were answered in earlier runs.
    """

    def __init__(self, answered: tuple[str, ...]) -> None:
        self._answered = set(answered)
        self._open: dict[str, Question] = {}
        self._answers: dict[str, Answer] = {}

    @property
    def open(self) -> tuple[Question, ...]:
        """What is waited for now."""
        return tuple(self._open.values())

    def ask(self, question: Question, at: Instant) -> Question:
        """Put a question; a second one at the same step gets an id of its own."""
        identifier, number = question.id, 1
        while identifier in self._answered or identifier in self._open:
            number += 1
            identifier = f"{question.id}#{number}"
        asked = question.model_copy(update={"id": identifier, "asked_at": at})
        self._open[identifier] = asked
        return asked

    def check(self, answer: Answer) -> None:
        """Refuse an answer that nobody waits for.

        Raises:
            InvalidAnswer: Saying what is waited for.
        """
        question = self._open.get(answer.question_id)
        if question is None:
            waiting = f"open: {', '.join(sorted(self._open))}" if self._open else "no question is open"
            answered = answer.question_id in self._answered
            problem = (
                f"{answer.question_id!r} is answered already" if answered else f"nobody asked {answer.question_id!r}"
            )
            raise InvalidAnswer("question_id", problem, fix=waiting)
        if question.choices and answer.value not in question.choices:
            raise InvalidAnswer(
                "value", f"{answer.value!r} is no choice", fix=f"choose {' or '.join(question.choices)}"
            )
        if not question.choices and not answer.value.strip():
            raise InvalidAnswer("value", "is empty")

    def answer(self, answer: Answer) -> None:
        """Record an answer; a second one that slipped past the check in the same moment changes nothing."""
        if self._open.pop(answer.question_id, None) is not None:
            self._answers[answer.question_id] = answer
            self._answered.add(answer.question_id)

    def is_answered(self, identifier: str) -> bool:
        """Tell whether an answer is there to be taken."""
        return identifier in self._answers

    def take(self, identifier: str) -> Answer:
        """Take an answer."""
        return self._answers.pop(identifier)

    def withdraw(self, identifier: str) -> None:
        """Ask no longer."""
        self._open.pop(identifier, None)

    def withdraw_all(self) -> None:
        """Ask nothing any longer."""
        self._open.clear()
