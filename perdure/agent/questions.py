"""The open questions of one workflow and their answers: each is answered once, by a value of its type. Asks nobody."""

from perdure.documents import refuse_unknown
from perdure.errors import InvalidAnswer
from perdure.model import Instant
from perdure.tolerance import changed_back, taken_back
from perdure.values.questions import Answer, Question, TakenAnswer, typed


class Questions:
    """Open questions, and answers that were given.

    Args:
        answered: Ids of questions that were answered in earlier runs.
        lapsed: Ids of those that nobody answered in time.
    """

    def __init__(self, answered: tuple[str, ...], lapsed: tuple[str, ...] = ()) -> None:
        self._answered = dict.fromkeys(answered)
        self._lapsed = dict.fromkeys(lapsed)
        self._coming: dict[str, Question] = {}
        self._open: dict[str, Question] = {}
        self._answers: dict[str, TakenAnswer] = {}

    @property
    def open(self) -> tuple[Question, ...]:
        """The questions that wait for an answer."""
        return tuple(self._open.values())

    @property
    def takes(self) -> tuple[Question, ...]:
        """The questions that take an answer: the open ones, and those that are about to be put."""
        coming = (question for name, question in self._coming.items() if name not in self._answered)
        return (*self._open.values(), *coming)

    @property
    def answered(self) -> tuple[str, ...]:
        """The ids of all answered questions, latest last."""
        return tuple(self._answered)

    @property
    def lapsed(self) -> tuple[str, ...]:
        """The ids of all questions that nobody answered in time, latest last."""
        return tuple(self._lapsed)

    @property
    def has_untaken(self) -> bool:
        """Whether an accepted answer has not been taken yet."""
        return bool(self._answers)

    def named(self, question: Question, at: Instant) -> Question:
        """Return a question that is about to be put, with a distinct id if it is not the first one at its step."""
        identifier, number = question.id, 1
        while any(identifier in known for known in (self._answered, self._lapsed, self._open, self._coming)):
            number += 1
            identifier = f"{question.id}#{number}"
        self._coming[identifier] = question.changed(id=identifier, asked_at=at)
        return self._coming[identifier]

    def ask(self, question: Question) -> None:
        """Put a question; its answer can be there already."""
        self._coming.pop(question.id, None)
        if question.id not in self._answers:
            self._open[question.id] = question

    def check(self, answer: Answer) -> None:
        """Refuse an answer that no open question takes.

        A question that is being announced can be answered: a client that queried a worker ahead of the history has
        seen it, and the update then comes before the end of the announcement (measured without a cache: 5 of 60).

        Raises:
            InvalidAnswer: Naming the field and what is waited for; the question stays open.
        """
        refuse_unknown(answer, error=InvalidAnswer)
        question = self._waiting(answer.question_id)
        if question is None:
            waiting = f"open: {', '.join(sorted(self._open))}" if self._open else "no question is open"
            raise InvalidAnswer("question_id", self._why_not(answer.question_id), fix=waiting)
        typed(answer.value, question.answer)

    def answer(self, answer: Answer, at: Instant) -> None:
        """Record an answer that was checked.

        It does not check again that the question is open: a replay applies an update before anything else
        that its workflow task brought, including the question itself.
        """
        if answer.question_id not in self._answered:
            self._open.pop(answer.question_id, None)
            self._answers[answer.question_id] = taken_back(TakenAnswer, {**answer.model_dump(), "at": at})
            self._answered[answer.question_id] = None

    def is_answered(self, identifier: str) -> bool:
        """Return whether an answer is there to be taken."""
        return identifier in self._answers

    def take(self, question: Question) -> TakenAnswer:
        """Take the answer to a question, as a value of the type that the question declares.

        It was checked when it was accepted, perhaps by a newer build: one that this build would not have accepted is
        taken as it was given.
        """
        answer = self._answers.pop(question.id)
        try:
            value = typed(answer.value, question.answer)
        except InvalidAnswer:
            return answer
        return changed_back(answer, value=value)

    def lapse(self, identifier: str) -> None:
        """Wait no longer for an answer: the time for it is over."""
        self._open.pop(identifier, None)
        self._lapsed[identifier] = None

    def withdraw_all(self) -> None:
        """Wait for no answer any longer."""
        self._coming.clear()
        self._open.clear()

    def _why_not(self, identifier: str) -> str:
        """Return why a question takes no answer."""
        if identifier in self._answered:
            return f"{identifier!r} is answered already"
        if identifier in self._lapsed:
            return f"the time to answer {identifier!r} is over"
        return f"there is no question {identifier!r}"

    def _waiting(self, identifier: str) -> Question | None:
        coming = None if identifier in self._answered else self._coming.get(identifier)
        return self._open.get(identifier) or coming
