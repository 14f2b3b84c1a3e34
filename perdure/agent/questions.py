"""The questions of one task and their answers: who may answer what, and only once. Asks nobody itself."""

from perdure.errors import InvalidAnswer
from perdure.model import Instant
from perdure.questions import Answer, Question


class Questions:
    """Open questions, and answers that were given.

    Args:
        answered: Ids of questions that were answered in earlier runs.
    """

    def __init__(self, answered: tuple[str, ...]) -> None:
        self._answered = dict.fromkeys(answered)
        self._coming: Question | None = None
        self._open: dict[str, Question] = {}
        self._answers: dict[str, Answer] = {}

    @property
    def open(self) -> tuple[Question, ...]:
        """What is waited for now."""
        return tuple(self._open.values())

    @property
    def answered(self) -> tuple[str, ...]:
        """The ids of all that were answered, latest last."""
        return tuple(self._answered)

    def named(self, question: Question, at: Instant) -> Question:
        """Give a question that is about to be put its id: a second one at the same step gets one of its own."""
        identifier, number = question.id, 1
        while identifier in self._answered or identifier in self._open:
            number += 1
            identifier = f"{question.id}#{number}"
        self._coming = question.changed(id=identifier, asked_at=at)
        return self._coming

    def ask(self, question: Question) -> None:
        """Put a question; its answer can be there already."""
        self._coming = None
        if question.id not in self._answers:
            self._open[question.id] = question

    def check(self, answer: Answer) -> None:
        """Refuse an answer that nobody waits for.

        A question that is being announced can be answered: who asked a worker that is ahead of the history has
        seen it, and the update then comes before the end of the announcement (measured without a cache: 5 of 60).

        Raises:
            InvalidAnswer: Saying what is waited for.
        """
        question = self._open.get(answer.question_id) or self._announced(answer.question_id)
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

    def _announced(self, identifier: str) -> Question | None:
        coming = self._coming
        return coming if coming and coming.id == identifier and identifier not in self._answered else None

    def answer(self, answer: Answer) -> None:
        """Record an answer that was checked.

        Whether its question is open is not asked again: a replay applies an update before whatever else
        its workflow task brought, the putting of the question included.
        """
        if answer.question_id not in self._answered:
            self._open.pop(answer.question_id, None)
            self._answers[answer.question_id] = answer
            self._answered[answer.question_id] = None

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
        self._coming = None
        self._open.clear()
