"""Quick steps: how many run as local activities before Temporal has its turn. Pure."""

from perdure.agent.steps.calls import QUICK_SECONDS
from perdure.model import Instant

AT_MOST = 20
"""Quick steps in one workflow task: all of them run again where the worker is killed before it ends."""

BYTES = 500_000
"""Bytes of outcomes after which no further quick step begins in one workflow task: they are sent together, in a message
that gRPC takes up to 4 MB of. Temporal ends a workflow whose message is larger (seen)."""


class QuickSteps:
    """The quick steps since the last ordinary step.

    When that one ended, a workflow task ended too, with everything before it. So the step after 20 quick ones runs as
    an ordinary one: a timer would cost the same, and do nothing.
    """

    def __init__(self) -> None:
        self._count = self._bytes = 0
        self._since: Instant | None = None

    def begin(self, now: Instant) -> bool:
        """Return whether a step that is to begin now may be a quick one, and count it."""
        since = self._since or now
        if self._count >= AT_MOST or self._bytes >= BYTES or (now - since).total_seconds() >= QUICK_SECONDS:
            return False
        self._count, self._since = self._count + 1, since
        return True

    def ended(self, size: int) -> None:
        """Count the bytes of an outcome."""
        self._bytes += size

    def reset(self) -> None:
        """Restart the count, as an ordinary step has ended."""
        self._count, self._bytes, self._since = 0, 0, None
