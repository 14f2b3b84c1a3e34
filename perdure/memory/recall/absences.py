"""Kinds of entries that a user has none of, remembered while nobody writes, so that not every recall asks for them.

Most users have pinned nothing and have no turns. Finding that out takes a search's time in every recall.
"""

import time
from collections import OrderedDict
from typing import Literal

What = Literal["pinned", "speakers"]

_FOR = 60.0
"""Seconds for which it is kept: less than a token of a writer is. So long may a Redis or Weaviate that came back as an
older copy, or a worker of an older build, hide what was written since. A choice."""

_KEPT = 20_000


def _now() -> float:
    # Goes on while the machine sleeps, as Redis' clock does.
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Absences:
    """What was looked for and not found, by user. It holds no content."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, What], tuple[float, str]] = OrderedDict()

    def known(self, tenant: str, what: What, writer: str) -> bool:
        """Return whether there was nothing when this writer had written last."""
        until, last = self._known.get((tenant, what), (0.0, ""))
        return last == writer and until > _now()

    def add(self, tenant: str, what: What, writer: str) -> None:
        """Note that there was nothing after this writer had written last, and before anybody else did."""
        self._known[tenant, what] = _now() + _FOR, writer
        self._known.move_to_end((tenant, what))
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
