"""What something temporary overrides, and which memory says so. Pure values."""

from collections.abc import Iterable
from datetime import datetime

from perdure.model import Instant, Passed

MOST_SUSPENSIONS = 50
"""Of one memory. A choice: what was over when another was added makes room for it."""


class Suspension(Passed):
    """That a memory does not hold while a temporary one does, which says something else.

    It counts as long as that one is believed itself, by the dates that it has then: forgotten or replaced, it overrides
    nothing.
    """

    by: str
    """The id of the temporary memory."""
    start: Instant
    until: Instant
    """When that one held, as far as was known when it was written."""

    def covers(self, at: datetime) -> bool:
        """Return whether a moment is within what was known then."""
        return self.start <= at < self.until


def joined(suspensions: Iterable[Suspension], at: datetime) -> tuple[Suspension, ...]:
    """Return one suspension for each memory that overrides, the first to begin first, as many as are kept.

    Those that are over at a moment make room, and then those that begin last.

    >>> at = Suspension.model_validate({"by": "a", "start": "2026-05-01T00:00Z", "until": "2026-05-03T00:00Z"})
    >>> [later] = joined([at, at.changed(until="2026-05-09T00:00Z")], at.start)
    >>> later.until.day
    9
    """
    found: dict[str, Suspension] = {}
    for one in suspensions:
        known = found.get(one.by, one)
        found[one.by] = known.changed(start=min(known.start, one.start), until=max(known.until, one.until))
    first = sorted(found.values(), key=lambda one: (one.until <= at, one.start, one.by))
    return tuple(first[:MOST_SUSPENSIONS])
