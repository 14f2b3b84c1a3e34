"""How belief in a memory decays while nobody uses or confirms it: a formula, so that nothing is rewritten. Pure."""

import math
from datetime import datetime, timedelta

from pydantic import Field

from perdure.model import Model
from perdure.values.entries import Entry, Memory, MemoryType

_DAY = timedelta(days=1)


class Decay(Model):
    """How long a memory is believed as much as it was, and how soon half as much after that."""

    half_life_days: float | None = Field(gt=0)
    """None: for ever as much."""
    fresh_days: float = Field(ge=0)

    def believed(self, entry: Entry, now: datetime) -> float:
        """Return how much an entry is believed at a moment, however long ago it was last used or confirmed."""
        if self.half_life_days is None or not _decays(entry):
            return entry.confidence
        days = max(0.0, (now - entry.used_at) / _DAY - self.fresh_days)
        return entry.confidence * 2.0 ** (-days / self.half_life_days)

    def days_until(self, least: float, entry: Entry) -> float | None:
        """Return how many days after its last use an entry is believed less than this; None: it never is.

        Args:
            least: Not more than its confidence.
            entry: The entry.
        """
        if self.half_life_days is None or least == 0.0 or not _decays(entry):
            return None
        return self.fresh_days + self.half_life_days * (math.log2(entry.confidence) - math.log2(least))


def is_exempt(entry: Entry) -> bool:
    """Return whether an entry is kept and believed whatever its age: what is pinned, and every constraint."""
    return isinstance(entry, Memory) and (entry.pinned or entry.memory_type is MemoryType.CONSTRAINT)


def _decays(entry: Entry) -> bool:
    """Return whether confidence in an entry decays: what happened and what was said stay so."""
    return isinstance(entry, Memory) and not is_exempt(entry)
