"""Places for requests: how many there are, and how many of them one user may take."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from perdure.refusals import TooManyRequests
from perdure.values.access_tokens import Caller

_FREE_AFTER = 5.0
"""Seconds after which somebody who found no place may ask again; a choice."""


class RequestPlaces:
    """So many places.

    Args:
        most: How many there are.
        of_one: How many of them one may take.
        what: What takes them, for messages.
    """

    def __init__(self, most: int, of_one: int, what: str) -> None:
        self._most = most
        self._of_one = of_one
        self._what = what
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken.total()

    @contextmanager
    def entered(self, whose: str) -> Generator[None]:
        """Take a place for as long as the block lasts.

        Args:
            whose: Who takes it.

        Raises:
            TooManyRequests: There is none left for them.
        """
        if self._taken.total() >= self._most or self._taken[whose] >= self._of_one:
            raise TooManyRequests(f"too many {self._what} at once", retry_after=_FREE_AFTER)
        self._taken[whose] += 1
        try:
            yield
        finally:
            self._taken[whose] -= 1
            if not self._taken[whose]:
                del self._taken[whose]


def whose(caller: Caller) -> str:
    """Return who takes a caller's places: the user, or a token for any user.

    A provider makes as many tokens for a user as are asked for, and need not tell one from another.
    """
    return f"user {caller.user_id}" if caller.user_id else f"token {caller.token}"
