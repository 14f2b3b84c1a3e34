"""Who speaks in each user's conversations: known before a question is embedded, as names are taken out of it."""

import time
from collections import Counter, OrderedDict

from perdure.stores.weaviate.store import LongTerm

_FOR = 60.0
"""Seconds for which the speakers of a user are kept: somebody new counts as a name a minute later. A choice."""

_USERS = 10_000


class Speakers:
    """How many turns there are of each speaker, by user; counted anew after a minute.

    Args:
        longterm: Where the turns are.
    """

    def __init__(self, longterm: LongTerm) -> None:
        self._longterm = longterm
        self._known: OrderedDict[str, tuple[float, Counter[str]]] = OrderedDict()

    async def of(self, tenant: str) -> Counter[str]:
        """Return how many turns there are of each speaker.

        Raises:
            StoreUnavailable: The store does not answer.
        """
        until, counted = self._known.get(tenant, (0.0, Counter[str]()))
        if until < time.monotonic():
            counted = await self._longterm.speakers(tenant)
            self._known[tenant] = time.monotonic() + _FOR, counted
            self._known.move_to_end(tenant)
            if len(self._known) > _USERS:
                self._known.popitem(last=False)
        return counted
