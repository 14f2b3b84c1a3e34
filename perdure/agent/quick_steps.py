"""Quick steps: how many run as local activities before Temporal has its turn. Pure."""

from perdure.agent.steps.calls import QUICK_SECONDS

AT_MOST = 20
"""Quick steps in one workflow task: all of them run again where the worker is killed before it ends."""

BYTES = 500_000
"""Bytes of outcomes after which a step is no quick one any more in one workflow task: all are sent together, in a
message that gRPC takes up to 4 MB of. Temporal ends a workflow whose message is larger (seen)."""


class QuickSteps:
    """The quick steps since the last ordinary step.

    When that one ended, a workflow task ended too, with everything before it. So the step after 20 quick ones runs as
    an ordinary one: a timer would cost the same, and do nothing.

    They run only where nothing else of the task can be under way, so one count holds for all branches. Their time is
    what their outcomes say, as ``workflow.now()`` may differ in a replay, which may hand over in one activation what
    the run that it repeats got in several.
    """

    def __init__(self) -> None:
        self._count = self._bytes = 0
        self._seconds = 0.0

    def begin(self) -> bool:
        """Return whether a step that is to begin may be a quick one, and count it."""
        if self._count >= AT_MOST or self._bytes >= BYTES or self._seconds >= QUICK_SECONDS:
            return False
        self._count += 1
        return True

    def ended(self, size: int, seconds: float) -> None:
        """Count the bytes of an outcome, and how long the step took."""
        self._bytes += size
        self._seconds += seconds

    def reset(self) -> None:
        """Restart the count, as an ordinary step has ended."""
        self._count = self._bytes = 0
        self._seconds = 0.0
