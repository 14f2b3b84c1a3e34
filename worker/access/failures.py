"""How many tokens that do not count an address may try. Pure: the time is given.

Only what fails is limited. Behind a proxy all requests come from one address, and one client's wrong tokens must not
keep out the others' right ones; nobody guesses 256 random bits at any rate.
"""

from collections import OrderedDict

MOST = 20
"""Failures of one address within ``WINDOW`` after which it is told to wait; a choice."""

WINDOW = 60.0
"""Seconds; a choice."""

_ADDRESSES = 10_000
"""Addresses that are remembered, the latest ones: a choice of 1 MB at most."""


class Failures:
    """The latest failures of each address."""

    def __init__(self) -> None:
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def failed(self, address: str, now: float) -> float:
        """Count a failure; returns after how many seconds the address may try again, 0 if at once.

        Args:
            address: Who failed.
            now: Seconds of a clock that never goes back.
        """
        began, count = self._windows.pop(address, (now, 0))
        if now - began >= WINDOW:
            began, count = now, 0
        self._windows[address] = began, count + 1
        while len(self._windows) > _ADDRESSES:
            self._windows.popitem(last=False)
        return max(1.0, WINDOW - (now - began)) if count + 1 > MOST else 0.0
