"""Calls of a task that failed and are tried again, as Temporal knows of them. Pure."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from perdure.model import Instant, Passed


class Retry(Passed):
    """A call whose last attempt failed, and that is tried again."""

    called: str
    """The tool, or the activity."""
    attempt: Annotated[int, Field(ge=1)]
    """The attempt that failed."""
    problem: str
    """Why, without content: the class of the exception that a tool raised, or a message of Perdure's."""
    place: str = ""
    """The tool's own line that raised it (``ship.py:8 in weigh``); empty: nobody knows one."""
    failed_at: Instant | None = None
    next_at: Instant | None = None
    """When the next attempt begins; None: it is under way."""

    def told(self, now: datetime) -> str:
        """Word it for a person.

        >>> at = datetime.fromisoformat("2026-01-31T12:00:00Z")
        >>> Retry(called="weigh", attempt=3, problem="OSError", next_at=at).told(at - timedelta(seconds=4))
        'weigh: attempt 3 failed (OSError); next in 4 s'
        """
        ago = f" {_lasting(now - self.failed_at)} ago" if self.failed_at else ""
        why = ", ".join(filter(None, (self.problem, self.place)))
        then = f"next in {_lasting(self.next_at - now)}" if self.next_at else f"attempt {self.attempt + 1} is under way"
        return f"{self.called}: attempt {self.attempt} failed{ago} ({why}); {then}"


def _lasting(time: timedelta) -> str:
    seconds = max(0, round(time.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7_200 else f"{seconds // 3_600} h"
