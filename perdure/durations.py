"""Durations as people write them: a number and a unit. Pure."""

import re
from datetime import timedelta

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def duration_of(text: str) -> timedelta:
    """Return the duration that a text says.

    Raises:
        ValueError: It says none.

    >>> duration_of("36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    if not (found := re.fullmatch(r"([0-9]{1,9})([smhd])", text)):
        raise ValueError("is no duration (write a number and a unit: 7d, 12h, 30m or 45s)")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
