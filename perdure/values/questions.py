"""Questions to people and their answers: what may be asked, about what, and which answers are accepted. Pure values."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from perdure.errors import InvalidAnswer
from perdure.frames import Frame
from perdure.model import LONGEST_PATH, Instant, OpenEnum, Passed, Request, ShallowJson

LONGEST_NOTE = 500

LONGEST_ANSWER = 4_000
"""Characters of an answer."""

ARGUMENTS_LIMIT = 500
"""Characters of the arguments that a question shows."""

_MOST = 2**53 - 1
"""The largest integer that JSON carries exactly everywhere."""

_INTEGER = re.compile(r"[-+]?[0-9]{1,16}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_YES_NO = {"yes": True, "true": True, "no": False, "false": False}


class QuestionKind(OpenEnum):
    """Why a person is asked. An unknown kind is shown and answered like any other: as text, if it declares no type."""

    APPROVAL = "approval"
    """May this step act?"""
    INPUT = "input"
    """The step's ``expect`` was not met: what should be taken instead?"""
    FAILURE = "failure"
    """The step failed: try again, skip it, or stop the task?"""
    UNKNOWN_EFFECT = "unknown_effect"
    """An attempt at a ``once`` effect died or failed, or was made with other arguments, and nothing can tell whether
    this effect happened."""
    WORKFLOW = "workflow"
    """A workflow of somebody's own asks."""


class Approval(OpenEnum):
    """The answers to an approval. Anything but ``yes``, an unknown answer too, forbids the step to act."""

    YES = "yes"
    NO = "no"


class AfterFailure(OpenEnum):
    """The answers to a failure. An unknown one stops the task."""

    RETRY = "retry"
    SKIP = "skip"
    STOP = "stop"


class EffectFate(OpenEnum):
    """The answers to an unknown effect. After an unknown answer, the question is put again."""

    DONE = "done"
    NOT_DONE = "not_done"


class AnswerType(OpenEnum):
    """What an answer may be. An unknown type is taken as text."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    YES_NO = "yes_no"
    CHOICE = "choice"


class AnswerSpec(Passed):
    """Which answers a question takes."""

    type: AnswerType = AnswerType.TEXT
    """What an answer may be."""
    choices: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=50)] = ()
    """For the type ``choice``: one of these."""

    @property
    def offered(self) -> tuple[str, ...]:
        """The answers that a person chooses from; empty where they write one."""
        return ("yes", "no") if self.type is AnswerType.YES_NO else self.choices

    @property
    def hint(self) -> str:
        """What a person may write, in a few words; empty for any text."""
        words = {AnswerType.INTEGER: "an integer", AnswerType.NUMBER: "a number"}
        return " | ".join(self.offered) or words.get(self.type, "")


def choice_of(choices: type[OpenEnum]) -> AnswerSpec:
    """Return the specification that takes one of an enumeration's values."""
    return AnswerSpec(type=AnswerType.CHOICE, choices=tuple(one.value for one in choices))


class FailedAttempt(Passed):
    """What is known of the last failed attempt at a step: it travels with the failure."""

    began: Instant
    arguments: Annotated[str, Field(max_length=ARGUMENTS_LIMIT)] = ""
    """As JSON, shortened; empty where it failed before they were known."""
    cause: Annotated[str, Field(max_length=200)] = ""
    """The class of the exception that the tool itself raised; empty: it raised none."""
    deadline: Instant | None = None
    """Until when its call could act. None: it made none, or it returned, or work goes on in threads."""
    acted: bool = True
    """Whether it, or an attempt before it, may have done what must not happen twice; what does not say so may have."""
    tokens: Annotated[int, Field(ge=0)] = 0
    """Tokens that a model read and wrote for it in vain."""
    frames: tuple[Frame, ...] = ()
    """Where the exception was raised; the tool's own lines first."""


class Subject(Passed):
    """What a question is about, so that a person can find out before answering."""

    tool: str
    arguments: Annotated[str, Field(max_length=ARGUMENTS_LIMIT)] = ""
    """As JSON, shortened; templates where they were not evaluated."""
    attempted_at: Instant | None = None
    """When the attempt began that it is about. None: there was none yet, as before an approval, or it was cut off at a
    time that nobody recorded. When the question was put is its ``asked_at``."""
    idempotency_key: str = ""
    """The effect's key, by which it can be looked up in services that received it."""
    deadline: Instant | None = None
    """Until when the attempt could act: nothing that it does itself happens later."""

    @property
    def lines(self) -> list[str]:
        """What a person should know before answering, a line each."""
        facts = {
            "about": f"{self.tool} {self.arguments}".strip(),
            "attempted at": f"{self.attempted_at:%Y-%m-%d %H:%M:%S %Z}" if self.attempted_at else "",
            "could act until": f"{self.deadline:%Y-%m-%d %H:%M:%S %Z}" if self.deadline else "",
            "idempotency key": self.idempotency_key,
        }
        return [f"{name} {fact}" for name, fact in facts.items() if fact]


class Question(Passed):
    """A question that a task, a memory on hold, or somebody's own workflow waits on."""

    id: str
    """The step's path, numbered from its second question on; an answer names it."""
    kind: QuestionKind
    text: str
    about: Subject | None = None
    answer: AnswerSpec = AnswerSpec()
    asked_at: Instant | None = None
    until: Instant | None = None
    """When it is no longer asked; None: it waits for as long as it takes."""
    otherwise: str = ""
    """What counts if nobody has answered by then: an answer, that the task or the call fails, or that an effect is not
    undone."""

    @property
    def may_have_acted(self) -> bool:
        """Whether what it is about may have happened: an approval is asked for before that, unless an attempt began."""
        return self.kind is not QuestionKind.APPROVAL or bool(self.about and self.about.attempted_at)

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers that a person chooses from; empty where they write one."""
        return self.answer.offered


class Answer(Request):
    """A person's answer: the input of the ``answer`` update.

    >>> Answer(question_id="invoices[3].send", value="yes", by="anna").value
    'yes'
    """

    question_id: Annotated[str, Field(min_length=1, max_length=LONGEST_PATH)]
    value: ShallowJson
    """As JSON or as text: ``42`` and ``"42"`` both answer a question for an integer."""
    by: Annotated[str, Field(max_length=200)] = ""
    """Who answered, for the audit."""
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] = ""
    """Why, in their own words: kept with what it decides about memory."""


class TakenAnswer(Answer):
    """An answer that was accepted: its value has the question's type."""

    at: Instant
    """When it was accepted, in the workflow's time."""


def shortened(arguments: Mapping[str, JsonValue]) -> str:
    """Return arguments as JSON that fits a question."""
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= ARGUMENTS_LIMIT else f"{text[: ARGUMENTS_LIMIT - 1]}…"


def typed(value: JsonValue, spec: AnswerSpec) -> JsonValue:
    """Return an answer as a value of the type that its question declares.

    >>> typed("42", AnswerSpec(type=AnswerType.INTEGER))
    42

    Raises:
        InvalidAnswer: When it is not of that type.
    """
    text = value.strip() if isinstance(value, str) else value
    if text in ("", None):
        raise InvalidAnswer("value", "is empty")
    if isinstance(text, str) and len(text) > LONGEST_ANSWER:
        raise InvalidAnswer("value", f"has {len(text):,} characters", fix=f"write at most {LONGEST_ANSWER:,}")
    match spec.type:
        case AnswerType.INTEGER:
            return _integer(text)
        case AnswerType.NUMBER:
            return _number(text)
        case AnswerType.YES_NO:
            return _yes_no(text)
        case AnswerType.CHOICE:
            return _chosen(text, spec.choices)
        case _:
            if not isinstance(value, str):
                raise InvalidAnswer("value", f"{_shown(value)} is not text", fix="put it in quotes")
            return value


def _chosen(value: JsonValue, choices: Sequence[str]) -> str:
    """Return the choice that is meant, in whatever case; of yes and no, a boolean will do as well."""
    if isinstance(value, bool) and {*choices} == {"yes", "no"}:
        return "yes" if value else "no"
    meant = value.casefold() if isinstance(value, str) else None
    found = [one for one in choices if one == value] or [one for one in choices if one.casefold() == meant]
    if len(found) != 1:
        fix = f"choose {' or '.join(choices)}"
        raise InvalidAnswer("value", f"{_shown(value)} is not one of the choices", fix=fix)
    return found[0]


def _integer(value: JsonValue) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidAnswer("value", f"{_shown(value)} is not an integer", fix="write digits: 42")
    if abs(value) > _MOST:
        raise InvalidAnswer("value", f"{_shown(value)} is too large", fix=f"write at most {_MOST}")
    return value


def _number(value: JsonValue) -> float:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
        raise InvalidAnswer("value", f"{_shown(value)} is not a number", fix="write a decimal: 4.2")
    # An expression divides integers and decimals differently, and refuses to mix them.
    return float(value)


def _yes_no(value: JsonValue) -> bool:
    found = _YES_NO.get(value.casefold()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise InvalidAnswer("value", f"{_shown(value)} is neither yes nor no", fix="choose yes or no")
    return found


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
