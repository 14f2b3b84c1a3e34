"""Changes of memory as values."""

from datetime import datetime

from perdure.model import Instant, OpenEnum, Passed, Stored


class ActorKind(OpenEnum):
    """What kind of actor; an unknown kind is shown as it is."""

    PERSON = "person"
    AGENT = "agent"
    SCHEDULE = "schedule"


class Actor(Passed):
    """On whose behalf something is done."""

    kind: ActorKind
    id: str = ""
    """Their name, as the caller knows it."""


class Deletion(Stored):
    """One line of the log."""

    id: str
    """The record or memory that was forgotten."""
    at: Instant
    reason: str
    run: str
    """The forgetting run that did it."""
    occurrences: tuple[str, ...] = ()
    """The observations that supported it: a resubmission of one of them does not bring it back."""
    purged: bool = False
    """False while forgetting it can still be undone."""
    restored_at: Instant | None = None
    """When forgetting it was undone."""

    def holds(self, run: str) -> bool:
        """Say whether this run wrote the line, and has not taken it back."""
        return self.run == run and self.restored_at is None

    def covers(self, occurrence: str, occurred_at: datetime) -> bool:
        """Say whether an observation is one that was forgotten: the same, or no newer than the deletion."""
        return self.restored_at is None and (occurrence in self.occurrences or occurred_at <= self.at)
