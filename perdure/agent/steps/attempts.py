"""One attempt at a step: who makes it, what it reports to the one after it, and what it came to. Does nothing."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from perdure.model import Instant


def never() -> bool:
    """Return False: where nobody says why an attempt is cancelled."""
    return False


class AttemptReport(Protocol):
    """What an attempt reports: to the next one, and to the person who is asked about its failure."""

    acted: bool
    """Whether this attempt, or one before it, may have acted."""
    arguments: str
    """What the tool is called with, shortened."""
    deadline: datetime.datetime | None
    """Until when a call that failed can act; None: there was none, or nothing cuts it off."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt at a step."""

    workflow_id: str
    """The id of the task's workflow."""
    owner: str
    """This attempt; unique among all."""
    number: int
    scheduled_at: Instant
    """When the first attempt of this series was scheduled."""
    started_at: Instant
    report: AttemptReport
    cut: float | None = None  # Seconds after which it is cut off, if sooner than its tool.
    lets_end: Callable[[], bool] = never
    """Whether a call that may be repeated ends although the attempt is cancelled: its task is, and not its worker."""

    def follows(self, earlier: Instant | None) -> Instant | None:
        """Return since when another attempt may have claimed the effect before this one; None: none did.

        Args:
            earlier: Since when attempts of another series may have, as far as the task's workflow knows.
        """
        return earlier or (self.scheduled_at if self.report.acted else None)


@dataclass(frozen=True, kw_only=True)
class Happened:
    """The effect happened, now or earlier."""

    output: JsonValue
    at: datetime.datetime | None = None
    """When the attempt began that made it happen; None: it was this one, or nobody knows."""
    unkept: bool = False
    """Whether its claim lacks the output, which Redis could not take."""
    before: bool = False
    """Whether it was another attempt that made it happen."""
