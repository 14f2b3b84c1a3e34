"""When something temporary overrides a memory, and which memory says so. Pure values."""

from collections.abc import Iterable
from datetime import datetime

from perdure.model import Instant, Passed

MOST_SUSPENSIONS = 20
"""Of one memory. A choice: what said so, and is over, makes room."""


class Suspension(Passed):
    """A span of time in which a memory does not hold, as another one says something else for just so long.

    It counts while that other memory is believed itself: forgotten, replaced or corrected, it overrides nothing.
    """

    by: str
    """The id of the temporary memory."""
    start: Instant
    until: Instant

    def covers(self, at: datetime) -> bool:
        """Return whether a moment is within it."""
        return self.start <= at < self.until


def joined(suspensions: Iterable[Suspension]) -> tuple[Suspension, ...]:
    """Return one suspension for each memory that overrides, the last to end first, as many as are kept.

    >>> at = Suspension.model_validate({"by": "a", "start": "2026-05-01T00:00Z", "until": "2026-05-03T00:00Z"})
    >>> [later] = joined([at, at.changed(until="2026-05-09T00:00Z")])
    >>> later.until.day
    9
    """
    found: dict[str, Suspension] = {}
    for one in suspensions:
        known = found.get(one.by, one)
        found[one.by] = known.changed(start=min(known.start, one.start), until=max(known.until, one.until))
    kept = sorted(found.values(), key=lambda one: (one.until, one.by), reverse=True)
    return tuple(kept[:MOST_SUSPENSIONS])
