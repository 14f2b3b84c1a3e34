"""What somebody may have meant by a name that is not known. Pure."""

import difflib
from collections.abc import Iterable, Sequence

_MEANT = {
    "if": ("when",),
    "condition": ("when",),
    "with": ("args", "inputs"),
    "arguments": ("args", "inputs"),
    "params": ("args", "inputs"),
    "parameters": ("args", "inputs"),
    "run": ("tool",),
    "uses": ("tool",),
    "action": ("tool",),
    "call": ("tool",),
    "foreach": ("for_each",),
    "loop": ("for_each",),
    "retries": ("retry",),
    "result": ("output",),
    "outputs": ("output",),
    "len": ("size",),
    "length": ("size",),
    "id": ("name", "task_id"),
    "user": ("user_id",),
    "prompt": ("instructions", "template"),
}
"""Names of other workflow languages and their likes, by what is meant here."""


def closest(name: str, known: Iterable[str]) -> str:
    """Return the known name that may be meant by one that is not known; empty: none is like it.

    >>> closest("stepz", ["steps", "name"])
    'steps'
    """
    names = sorted(set(known))
    meant = (one for one in _MEANT.get(name.casefold(), ()) if one in names)
    return next(meant, "") or next(iter(difflib.get_close_matches(name, names)), "")


def nearest(name: str, known: Iterable[str], whose: str = "") -> str:
    """Suggest the closest known name, or list the known names.

    Args:
        name: What is not known.
        known: What is.
        whose: Where the known names come from, told where none is close: then it may be that others were meant.

    >>> nearest("weigh", ["order", "count"], "these are the shop's")
    "there are: count, order; these are the shop's"
    """
    names = sorted(set(known))
    if meant := closest(name, names):
        return f"did you mean {meant!r}?"
    return "; ".join(filter(None, (f"there are: {_listed(names)}" if names else "", whose)))


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
