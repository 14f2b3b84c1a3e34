"""Who speaks in each user's conversations: known before a question is embedded, as names are taken out of it."""

import time
from collections import Counter, OrderedDict

from perdure.stores.weaviate.store import LongTerm

_FOR = 60.0
"""Seconds for which the speakers of a user are kept: somebody new counts as a name a minute later. A choice. That
there are none is kept elsewhere, until somebody writes: the first turns are found at once."""

_USERS = 10_000


class Speakers:
    """The number of each speaker's turns, by user.

    Args:
        longterm: Where the turns are.
    """

    def __init__(self, longterm: LongTerm) -> None:
        self._longterm = longterm
        self._known: OrderedDict[str, tuple[float, Counter[str]]] = OrderedDict()

    def known(self, tenant: str) -> Counter[str] | None:
        """Return what was counted within the last minute; None: nothing was."""
        until, counted = self._known.get(tenant, (0.0, None))
        return counted if until > time.monotonic() else None

    async def of(self, tenant: str) -> Counter[str]:
        """Count the turns of each speaker.

        Raises:
            StoreUnavailable: The store does not answer.
        """
        counted = await self._longterm.speakers(tenant)
        if counted:
            self._known[tenant] = time.monotonic() + _FOR, counted
            self._known.move_to_end(tenant)
            if len(self._known) > _USERS:
                self._known.popitem(last=False)
        return counted
