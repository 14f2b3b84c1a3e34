"""How far a run's history has grown, by the workflow's own count, and whether it has to be rolled over."""

ACTIVITY = 6
"""Events of one activity: three of its own, three of the workflow task that takes up its outcome (6.2 measured). A
local one is a single event and counts as much: a replay takes as long for it (8.4 ms, and 9.3 for others, measured)."""

EVENTS = 1_000
"""Events after which a run continues as new, so that a worker that has to replay all of it finishes within the time of
one workflow task, 4 s, with as many others as it takes at once: 1,000 take .4 s (measured). A replay
that takes longer starts again at the first event, each time: with 2,445 events and 1 s a task stood still for the 100 s
that it was watched."""

BYTES = 8_000_000
"""Bytes of outcomes after which a run continues as new. Temporal warns at 10 MB and ends a workflow at 50 MB."""


class History:
    """The history of one run.

    It is counted here because the length that Temporal reports differs in a replay: a worker that answers a query can
    be ahead of the recorded history, and a rollover decided by the length that it sees then does not replay
    (seen once in 506 tasks under random kills, and 3 times of 3 with a query at the right moment).

    Args:
        limit: Events after which it is rolled over; 0: the usual number.
    """

    def __init__(self, limit: int = 0) -> None:
        self._limit = limit or EVENTS
        self._events = self._bytes = 0

    def grow(self, activities: int = 1, size: int = 0) -> None:
        """Count activities, and the bytes of their inputs and outcomes."""
        self._events += ACTIVITY * activities
        self._bytes += size

    @property
    def is_due(self) -> bool:
        """Whether the run should continue as new."""
        return self.is_due_after(0, 0)

    def is_due_after(self, activities: int, size: int) -> bool:
        """Return whether the run should continue as new once so many more have been counted."""
        return self._events + ACTIVITY * activities >= self._limit or self._bytes + size >= BYTES
