"""What is done to a task that runs, besides answers and events: pauses, messages, redirections. Pure values."""

from contextlib import suppress
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from perdure.errors import InvalidTask
from perdure.model import LONGEST_PATH, Instant, OpenEnum, Passed, Request, one_line
from perdure.values.changes import PROGRAM, Actor, ActorKind

LONGEST_REASON = 500
"""Characters of a reason, and of a constraint."""

LONGEST_SENDER = 200
"""Characters of the id of whoever does it."""

LONGEST_MESSAGE = 4_000
"""Characters of a message, an eighth of what a model reads of its own work: a choice."""

LONGEST_GOAL = 20_000
"""Characters of a goal."""

MOST_CONSTRAINTS = 20
"""Constraints that a task takes: none is ever dropped."""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty (write some text)")
    return text


class InterventionKind(OpenEnum):
    """What was done to a task. An unknown kind is only shown."""

    PAUSED = "paused"
    RESUMED = "resumed"
    TOLD = "told"
    """Somebody sent it a message."""
    REDIRECTED = "redirected"
    JUDGED = "judged"
    """A person said whether a step, or the task, did what it should."""
    BEGUN = "begun"
    """Somebody had it begin at a step, with the results of the steps before."""
    CANCELLED = "cancelled"
    """Somebody had it stop."""


RequestId = Annotated[str, Field(max_length=100), one_line]
"""The sender's own id for a request: a task takes an id once."""

Reason = Annotated[str, Field(max_length=LONGEST_REASON), one_line]
"""Why, in somebody's own words."""


class PauseRequest(Request):
    """Has a task pause, or go on: the input of the updates ``pause`` and ``resume``.

    >>> PauseRequest(because="the shop is closed").because
    'the shop is closed'
    """

    because: Reason = ""
    id: RequestId = ""
    """Empty: the id of the update."""
    by: Actor = PROGRAM
    """Who asks for it."""


class TaskMessage(Request):
    """What somebody tells the model of a task with a goal: the input of the update ``message``.

    >>> TaskMessage(text="The tests are in a folder of their own.").text
    'The tests are in a folder of their own.'
    """

    text: Annotated[str, Field(max_length=LONGEST_MESSAGE), AfterValidator(_not_blank)]
    id: RequestId = ""
    """Empty: the id of the update."""
    by: Actor = PROGRAM
    """Who tells it."""


class Redirection(Request):
    """Another goal for a task that has one, or further constraints: the input of the update ``redirect``.

    >>> Redirection(constraints=("Change nothing under docs/.",)).goal
    ''
    """

    goal: Annotated[str, Field(max_length=LONGEST_GOAL)] = ""
    """What the task should achieve from now on; empty: what it should achieve so far."""
    constraints: Annotated[
        tuple[Annotated[str, Field(max_length=LONGEST_REASON), AfterValidator(_not_blank), one_line], ...],
        Field(max_length=MOST_CONSTRAINTS),
    ] = ()
    """What has to hold in addition, whatever the goal."""
    because: Reason = ""
    id: RequestId = ""
    """Empty: the id of the update."""
    by: Actor = PROGRAM
    """Who redirects it."""


class TaskFeedback(Request):
    """What a person says of a step of a running task, or of all of it: the input of the update ``feedback``.

    >>> TaskFeedback(passed=False, step="packages[3].inspect", text="The licence is another one.").passed
    False
    """

    passed: bool
    """Whether it did what it should."""
    step: Annotated[str, Field(max_length=LONGEST_PATH), one_line] = ""
    """The step's path; empty: the task."""
    text: Reason = ""
    """Why."""
    id: RequestId = ""
    """Empty: the id of the update."""
    by: Actor = PROGRAM
    """Who says so: a person."""


class Cancellation(Request):
    """Who has a task stop, and why: as JSON, the reason that Temporal carries with a cancellation.

    >>> Cancellation.of("the shop is closed").because
    'the shop is closed'
    """

    because: Reason = ""
    by: Actor = PROGRAM
    """Who has it stop."""

    @classmethod
    def of(cls, reason: str) -> Self:
        """Return what the reason of a cancellation says; one in other words is why, and nobody knows whose it is."""
        with suppress(ValueError):
            found = cls.model_validate_json(reason)
            if "by" in found.model_fields_set and len(found.by.id) <= LONGEST_SENDER:
                return found
        return cls(because=" ".join(reason.split())[:LONGEST_REASON])


SteeringRequest = PauseRequest | TaskMessage | Redirection | TaskFeedback
"""What can be asked of a task that runs."""


class Intervention(Passed):
    """What was done to a task that runs, by whom and when; without content."""

    kind: InterventionKind
    by: Actor
    at: Instant
    """When, in the workflow's time."""
    because: str = ""
    what: str = ""
    """What changed, in a few words."""

    @property
    def told(self) -> str:
        """It in words: ``paused by person ada on 2026-01-31 09:00:00 UTC: the shop is closed``."""
        who = f"{self.by.kind} {self.by.id}".strip()
        what = f" ({self.what})" if self.what else ""
        reason = f": {self.because}" if self.because else ""
        return f"{self.kind} by {who} on {self.at:%Y-%m-%d %H:%M:%S %Z}{what}{reason}"


class TakenMessage(Passed):
    """A message or a redirection that a task has accepted."""

    id: str
    text: str = ""
    """The message; empty: it is a redirection."""
    goal: str = ""
    constraints: tuple[str, ...] = ()
    by: Actor
    at: Instant
    """When it was accepted, in the workflow's time."""


class GivenConstraint(Passed):
    """What has to hold, as somebody said while the task ran."""

    text: str
    by: Actor
    at: Instant


class GivenFeedback(Passed):
    """What a person said of a step, or of the task."""

    step: str = ""
    passed: bool
    text: str = ""
    by: Actor
    at: Instant

    @property
    def told(self) -> str:
        """It in words, with who said it and when."""
        what = f"step {self.step}" if self.step else "the task"
        said = f": {self.text}" if self.text else ""
        return f"{what}{said} (person {self.by.id}, {self.at:%Y-%m-%d %H:%M:%S %Z})"


class Heard(Passed):
    """What a model reads of a message or a redirection, as if between its turns."""

    id: str
    text: str
    by: Actor
    at: Instant
    sets_aim: bool = False
    """Whether no answer before it stands any more: a redirection does, and what is said in a conversation."""


class Steered(Passed):
    """What was done to a task, which travels when the history is rolled over."""

    paused: Intervention | None = None
    """Since when it pauses; None: it does not."""
    unread: tuple[TakenMessage, ...] = ()
    """Messages and redirections that its model has not seen, in the order in which they came."""
    feedback: tuple[GivenFeedback, ...] = ()
    """What people said of its steps, and of the task."""
    handled: tuple[str, ...] = ()
    """The ids of the requests that came last."""
    interventions: tuple[Intervention, ...] = ()
    """The last ones."""


def require_judge(by: Actor) -> None:
    """Refuse the word of a sender who is no person on what a task did.

    Raises:
        InvalidTask: It is an agent or a schedule, say.
    """
    if by.kind is not ActorKind.PERSON:
        raise InvalidTask("by", f"is of the kind {by.kind.value!r}, and only people judge a task")


def require_named(by: Actor) -> None:
    """Refuse a sender whose id is longer than a task records.

    Raises:
        InvalidTask: It is longer.
    """
    if (length := len(by.id)) > LONGEST_SENDER:
        raise InvalidTask("by", f"has an id of {length:,} characters", fix=f"at most {LONGEST_SENDER}")
