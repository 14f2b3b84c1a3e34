"""What is done to a task that runs, besides answers and events: it is paused, and goes on. Pure values."""

from typing import Annotated

from pydantic import Field

from perdure.changes import PROGRAM, Actor
from perdure.errors import InvalidTask
from perdure.model import Instant, OpenEnum, Passed, Request, one_line

LONGEST_REASON = 500
"""Characters of a reason."""

LONGEST_SENDER = 200
"""Characters of the id of whoever does it."""


class InterventionKind(OpenEnum):
    """What was done to a task. An unknown kind is only shown."""

    PAUSED = "paused"
    RESUMED = "resumed"


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


class Intervention(Passed):
    """What was done to a task that runs, by whom and when."""

    kind: InterventionKind
    by: Actor
    at: Instant
    """When, in the workflow's time."""
    because: str = ""

    @property
    def told(self) -> str:
        """It in words: ``paused by person ada on 2026-01-31 09:00:00 UTC: the shop is closed``."""
        who = f"{self.by.kind} {self.by.id}".strip()
        reason = f": {self.because}" if self.because else ""
        return f"{self.kind} by {who} on {self.at:%Y-%m-%d %H:%M:%S %Z}{reason}"


class Steered(Passed):
    """What was done to a task, which travels when the history is rolled over."""

    paused: Intervention | None = None
    """Since when it pauses; None: it does not."""
    handled: tuple[str, ...] = ()
    """The ids of the requests that came last."""
    interventions: tuple[Intervention, ...] = ()
    """The last ones."""


def require_named(by: Actor) -> None:
    """Refuse a sender whose id is longer than a task records.

    Raises:
        InvalidTask: It is longer.
    """
    if (length := len(by.id)) > LONGEST_SENDER:
        raise InvalidTask("by", f"has an id of {length:,} characters", fix=f"at most {LONGEST_SENDER}")
