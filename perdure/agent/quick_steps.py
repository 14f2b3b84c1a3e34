"""Quick steps: how many run as local activities before Temporal has its turn. Pure."""

from collections import Counter

from perdure.agent.steps.calls import QUICK_SECONDS

AT_MOST = 20
"""Quick steps in one workflow task: all of them run again where the worker is killed before it ends."""

BYTES = 500_000
"""Bytes of a branch's outcomes after which its steps are no quick ones any more in one workflow task: all are sent
together, in a message that gRPC takes up to 4 MB of. Temporal ends a workflow whose message is larger (seen)."""


class QuickSteps:
    """The quick steps since the last ordinary step.

    When that one ended, a workflow task ended too, with everything before it. So the step after 20 quick ones runs as
    an ordinary one: a timer would cost the same, and do nothing.

    They run only where nothing else of the task can be under way. Their time is what their outcomes say, as
    ``workflow.now()`` may differ in a replay, which may hand over in one activation what the run that it repeats got in
    several; it counts in their own branch, as their bytes do.
    """

    def __init__(self) -> None:
        self._count = 0
        self._bytes: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}

    def begin(self, branch: str) -> bool:
        """Return whether a step of a branch that is to begin may be a quick one, and count it."""
        spent = self._bytes[branch] >= BYTES or self._seconds.get(branch, 0.0) >= QUICK_SECONDS
        if self._count >= AT_MOST or spent:
            return False
        self._count += 1
        return True

    def ended(self, branch: str, size: int, seconds: float) -> None:
        """Count the bytes of an outcome, and how long the step took."""
        self._bytes[branch] += size
        self._seconds[branch] = self._seconds.get(branch, 0.0) + seconds

    def reset(self) -> None:
        """Restart the count, as an ordinary step has ended."""
        self._count = 0
        self._bytes.clear()
        self._seconds.clear()
