"""Questions that any workflow asks a person, and the list of all that people are asked. Pure values."""

from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from perdure.durations import LONGEST_WAIT, duration_of, lasting
from perdure.errors import InvalidAnswer, InvalidInput
from perdure.identity import UserId
from perdure.model import Instant, Passed, Request, ShallowJson, refuse_beyond
from perdure.values.questions import AnswerSpec, AnswerType, Question, QuestionKind, typed

ASKED = "question"
"""The id of the one question that a workflow of this kind asks."""

LONGEST_ASKED = 2_000
"""Characters of a question, as many as one of a skill's step has."""


def _within(text: str) -> str:
    if duration_of(lasting(text)) > LONGEST_WAIT:
        refuse_beyond(f"is longer than a question is asked (at most {LONGEST_WAIT.days}d)")
    return text


class PersonQuestion(Request):
    """A question of anybody's workflow to a person: the input of the ``AskPerson`` workflow.

    >>> PersonQuestion(user_id="ada", text="Ship it?", answer=AnswerSpec(type=AnswerType.YES_NO)).within
    '7d'
    """

    user_id: UserId
    """Whose question it is: it is listed in this user's inbox, and goes with the user's erasure."""
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_ASKED)]
    answer: AnswerSpec = AnswerSpec()
    """Which answers it takes; any text without it."""
    within: Annotated[str, AfterValidator(_within), Field(examples=["7d"])] = "7d"
    """How long it is asked: ``45s``, ``30m``, ``12h`` or ``7d``."""
    otherwise: ShallowJson = None
    """The answer that counts if nobody gives one in time; None: there is none."""

    @property
    def lasts(self) -> timedelta:
        """How long it is asked."""
        return duration_of(self.within)

    @property
    def default(self) -> JsonValue:
        """The answer that counts if nobody gives one in time, as a value of the question's type; None: there is none.

        Raises:
            InvalidInput: It is none that the question takes, or the question takes none at all.
        """
        if self.answer.type is AnswerType.CHOICE and not self.answer.choices:
            raise InvalidInput("answer.choices", "is empty", fix="write what can be chosen")
        if self.otherwise is None:
            return None
        try:
            return typed(self.otherwise, self.answer)
        except InvalidAnswer as error:
            raise InvalidInput("otherwise", error.problem, fix=error.fix) from None

    def asked(self, at: Instant) -> Question:
        """Return what a person is asked, from a moment on."""
        return Question(
            id=ASKED,
            kind=QuestionKind.WORKFLOW,
            text=self.text,
            answer=self.answer,
            asked_at=at,
            until=at + self.lasts,
            otherwise="no answer" if self.otherwise is None else str(self.otherwise),
        )


class PersonAnswer(Passed):
    """What a person answered, or the default that counts instead: the output of the ``AskPerson`` workflow."""

    answered: bool
    """Whether a person answered in time."""
    value: JsonValue = None
    """Of the type that the question declares; None if nobody answered, and there is no default."""
    by: str = ""
    """Who answered."""
    note: str = ""
    at: Instant
    """When it was answered, or when the time had passed."""


class OpenQuestion(Passed):
    """A question that waits for a person, in the inbox."""

    workflow_id: str
    """The workflow that asks, by whose id it is answered."""
    kind: str
    """The workflow's type: a task, a memory on hold, or a question of somebody's own workflow."""
    asker: str = ""
    """The id of the workflow of somebody's own that asks; empty: it is a task, or a memory on hold."""
    question: Question
