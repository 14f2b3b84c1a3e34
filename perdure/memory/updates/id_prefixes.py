"""Which entry the beginning of an id names, as a person copies it from what commands print. Pure."""

import re
from collections.abc import Collection

from perdure.errors import InvalidInput

SHORTEST = 8
"""Characters of an id that name it, at least; a choice. ``mem_1a2b``, or eight digits."""

_SHOWN = 5
"""Candidates that an ambiguous beginning is answered with; a choice."""

_WHOLE = re.compile(r"[a-z]+_[0-9a-f]{64}")


def is_whole(identifier: str) -> bool:
    """Return whether an id is whole, so that it need not be looked up."""
    return _WHOLE.fullmatch(identifier) is not None


def identified(beginning: str, known: Collection[str]) -> str:
    """Return the one known id that begins so, with or without its kind; what no id begins with, as it is.

    Args:
        beginning: What a person gave, which may end with the dots of an id that was cut short.
        known: The ids of the user's entries.

    Raises:
        InvalidInput: Several begin so; with them.
    """
    sought = beginning.rstrip("….")
    if beginning in known or len(sought) < SHORTEST:
        return beginning
    found = sorted(one for one in known if one.startswith(sought) or one.partition("_")[2].startswith(sought))
    if len(found) > 1:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        problem = f"{beginning!r} begins {len(found)} ids: {', '.join(found[:_SHOWN])}{more}"
        raise InvalidInput("id", problem, fix="give more of it")
    return found[0] if found else beginning
