"""Changes of memory as values: what, by whom and why. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from perdure.model import Instant, OpenEnum, Passed, Stored
from perdure.values.entries import Entry, Memory, State


class ActorKind(OpenEnum):
    """What kind of actor acts. Only a person may answer, approve or judge; an unknown kind has a program's rights."""

    PERSON = "person"
    AGENT = "agent"
    SCHEDULE = "schedule"
    SYSTEM = "system"


class Actor(Passed):
    """Who changes memory; named by the program that asks for them."""

    by_hand: ClassVar[bool] = False
    kind: ActorKind
    id: str = ""
    """Which person, task or schedule; empty if unknown."""

    def seen_by(self, user_id: str) -> "Actor":
        """Return the actor as a user may take it away: without the id of another person."""
        return self if self.kind is not ActorKind.PERSON or self.id == user_id else self.changed(id="")


PROGRAM = Actor(kind=ActorKind.SYSTEM)
"""A program that did not identify itself."""


def is_overtaken(asked_at: datetime, now: datetime, *, by: datetime) -> bool:
    """Return whether a statement was held up until after another one, so that it no longer says what is wanted.

    Args:
        asked_at: When it was asked for.
        now: When it is to be recorded, by the same clock.
        by: When the other one was asked for. In the future, it was by a clock that was wrong, and overtakes nothing.
    """
    return asked_at < by <= now


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of one entry."""

    id: str
    expected: int
    """The version that the stored entry must still have; 0: it must not exist."""
    entry: Entry
    """The whole entry afterwards: absolute values, never increments. If equal to the stored one, nothing is written."""
    vector: Sequence[float] | None = None
    """The entry's vector, if its text is new; otherwise it keeps the one that it has."""
    by: Actor
    why: str
    """The reason, without content: it is logged."""
    note: str = ""
    """The reason in somebody's own words: journaled with the entry, and never logged."""
    operation: str
    """The id of the operation; an entry that carries it already has this change, unless ``corrects``."""
    corrects: bool = False
    """Whether an earlier attempt at the operation has written the entry, and not as it is to be."""
    after: frozenset[str] = frozenset()
    """The entries without which this change would be wrong: those that the operation changes are written first."""


class Refusal(Passed):
    """An item of a batch that did not become memory."""

    index: int
    """The item's place in its batch."""
    id: str = ""
    """The record or memory that it would have become."""
    reason: str
    held: bool = False
    """Whether it waits for a person in a hold, rather than having been refused."""


class Deletion(Stored):
    """One line of the deletion log."""

    id: str
    """The record or memory that was forgotten."""
    at: Instant
    reason: str
    sweep: str
    """The sweep, or the removal, that did it."""
    on_request: bool = False
    """Whether somebody asked for it, and no rule did."""
    occurrences: tuple[str, ...] = ()
    """The observations that supported it: a resubmission of one of them does not bring it back."""
    wordings: tuple[str, ...] = ()
    """The ids that it would have in other words in which it was said."""
    purged: bool = False
    """False while forgetting it can still be undone."""
    restored_at: Instant | None = None
    """When forgetting it was undone."""

    @property
    def age(self) -> tuple[datetime, bool, bool]:
        """Orders the lines on one entry: the greatest one is in force."""
        return self.at, self.restored_at is not None, self.purged

    @classmethod
    def of(cls, entry: Entry, *, at: datetime, reason: str, sweep: str, on_request: bool = False) -> "Deletion":
        """Return the line on an entry that is forgotten, with all that may not bring it back."""
        return cls(
            id=entry.id,
            at=at,
            reason=reason,
            sweep=sweep,
            on_request=on_request,
            occurrences=entry.occurrences,
            wordings=entry.wordings if isinstance(entry, Memory) else (),
        )

    def holds(self, sweep: str) -> bool:
        """Return whether this sweep wrote the line, and it still counts: it was neither undone nor purged."""
        return self.sweep == sweep and self.restored_at is None and not self.purged

    def is_unfinished(self, entry: Entry | None) -> bool:
        """Return whether the entry still stands: a sweep writes the line first, and undoes it if it cannot go on.

        An entry that was observed again after it was forgotten shares no observation with the line.
        """
        return (
            self.restored_at is None
            and entry is not None
            and entry.state is not State.FORGOTTEN
            and not set(self.occurrences).isdisjoint(entry.occurrences)
        )

    def covers(self, occurrence: str, recorded_at: datetime) -> bool:
        """Return whether an observation is one that was forgotten: the same, or recorded before the deletion.

        The observation's own date plays no part: a task about a past day may learn again what was forgotten since, and
        one about tomorrow gets no exception.
        """
        return self.restored_at is None and (occurrence in self.occurrences or recorded_at <= self.at)


def by_wording(deletions: Mapping[str, Deletion]) -> dict[str, Deletion]:
    """Return deletions by each id that what they forgot may be offered under; an entry's own line goes first.

    Args:
        deletions: By the id of the entry that each forgot.
    """
    return {one: line for line in deletions.values() for one in line.wordings} | dict(deletions)


def latest(known: Mapping[str, Deletion], others: Iterable[Deletion]) -> dict[str, Deletion]:
    """Return each entry's current deletion, from one copy of the log by id and the lines of another."""
    found = dict(known)
    for line in others:
        if line.id not in found or line.age > found[line.id].age:
            found[line.id] = line
    return found
