"""Which entries a sweep forgets, and whether that is too many at once. Pure."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from perdure.memory.retention import RetentionRules
from perdure.model import Instant, Model, Passed, Unit
from perdure.values.entries import Entry


class DueEntry(Passed):
    """One entry to be forgotten, small enough for a workflow's history: no content."""

    id: str
    version: int
    reason: str


class Forgetting(Passed):
    """What a sweep would do for one tenant."""

    tenant: str
    at: Instant
    tombstone: tuple[DueEntry, ...] = ()
    """To be forgotten now; undoable until purged."""
    purge: tuple[DueEntry, ...] = ()
    """Forgotten long enough ago to be removed for good."""
    backdated: tuple[DueEntry, ...] = ()
    """Due by old rules, but kept by the current ones: only their date is corrected."""
    due: dict[str, int] = Field(default_factory=dict[str, int])
    """How many are due in all, those of later plans included, for each reason."""
    purgeable: int = 0
    """How many are to be removed in all, those of later plans included."""
    held: str = ""
    """Why nothing is tombstoned until a person approves; empty: go on."""
    more: bool = False
    """Whether more is due than one plan takes."""


class SweepCounts(Model):
    """How many entries a tenant has, beyond what one plan reads."""

    stored: int
    """Current entries."""
    due: dict[str, int]
    """Entries whose ``forget_after`` has passed, for each reason."""
    purgeable: int
    """Forgotten entries whose ``purge_after`` has passed."""


class Guard(Model):
    """Stops a sweep that would forget suspiciously much of one tenant at once."""

    fraction: Unit = 0.3
    """The largest share of a tenant's entries that goes without a person's approval."""
    free: Annotated[int, Field(ge=0)] = 20
    """This many go in any case: a share of a handful says nothing."""

    def objection(self, due: int, stored: int) -> str:
        """Return why a person has to approve first; empty: nobody has to."""
        if due <= self.free or due <= stored * self.fraction:
            return ""
        return f"{due} of {stored} entries are due, more than {self.fraction:.0%}"


def select(
    tenant: str,
    *,
    due: Sequence[Entry],
    purgeable: Sequence[Entry],
    counts: SweepCounts,
    rules: RetentionRules,
    guard: Guard,
    approved: bool,
    at: datetime,
) -> Forgetting:
    """Choose what one tenant's sweep does.

    Args:
        tenant: Whose entries.
        due: Those whose ``forget_after`` has passed, whichever rules computed it: as many as one plan takes.
        purgeable: Those forgotten whose ``purge_after`` has passed: as many as one plan takes.
        counts: How many there are in all.
        rules: Today's rules; they have the last word over a date computed by earlier ones.
        guard: Stops what looks like a mistake.
        approved: A person has approved it.
        at: The sweep's moment.
    """
    tombstone: list[DueEntry] = []
    backdated: list[DueEntry] = []
    for entry in due:
        moment, reason = rules.date(entry)
        if moment is not None and moment <= at:
            tombstone.append(DueEntry(id=entry.id, version=entry.version, reason=reason))
        else:
            backdated.append(DueEntry(id=entry.id, version=entry.version, reason="the rules changed"))
    # Entries that were read are judged by today's rules; the rest are counted by the reason that dated them.
    reasons = Counter(counts.due)
    reasons.subtract(entry.forget_reason for entry in due)
    reasons.update(item.reason for item in tombstone)
    held = "" if approved else guard.objection((+reasons).total(), counts.stored)
    purge = [DueEntry(id=entry.id, version=entry.version, reason=entry.forget_reason) for entry in purgeable]
    return Forgetting(
        tenant=tenant,
        at=at,
        tombstone=tuple(tombstone),
        purge=tuple(purge),
        backdated=tuple(backdated),
        due=dict(+reasons),
        purgeable=counts.purgeable,
        held=held,
        more=sum(counts.due.values()) > len(due) or counts.purgeable > len(purge),
    )
