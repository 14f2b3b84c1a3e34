"""Questions to people and their answers."""

from typing import Annotated

from pydantic import Field

from perdure.model import Instant, OpenEnum, Passed


class QuestionKind(OpenEnum):
    """Why a person is asked."""

    APPROVAL = "approval"
    """May this step act?"""
    INPUT = "input"
    """The step's ``expect`` was not met: what should be taken instead?"""
    FAILURE = "failure"
    """The tool failed: try again, skip the step, or stop the task?"""
    UNKNOWN_EFFECT = "unknown_effect"
    """An attempt died around a ``once`` effect, and nothing can tell whether it happened."""


class Question(Passed):
    """A question that a task waits on."""

    id: str
    """The step's path; an answer names it."""
    kind: QuestionKind
    text: str
    choices: tuple[str, ...] = ()
    """The answers that are taken; empty: any text."""
    asked_at: Instant | None = None


class Answer(Passed):
    """A person's answer: the input of the ``answer`` update."""

    question_id: Annotated[str, Field(min_length=1, max_length=300)]
    value: Annotated[str, Field(max_length=4_000)]
    by: Annotated[str, Field(max_length=200)] = ""
    """Who answered, for the audit."""
