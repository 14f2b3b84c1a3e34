"""Merges what the long-term store has with what the journal says. Pure: no store, no file, no clock."""

from collections.abc import Mapping
from enum import StrEnum

from perdure.entries import Entry


class Origin(StrEnum):
    """Where an entry was found."""

    REMOTE = "remote"
    LOCAL = "local"
    """In the journal only: its job is not done, or the store lost it."""
    MERGED = "merged"


def reconcile(remote: Mapping[str, Entry], local: Mapping[str, Entry]) -> dict[str, tuple[Origin, Entry]]:
    """Merge by id: each id once, with where it was found; of two states of an entry the later version counts.

    Args:
        remote: What the store has.
        local: What the journal says, from ``local.believed``.
    """
    merged = {identifier: (Origin.LOCAL, entry) for identifier, entry in local.items()}
    for identifier, entry in remote.items():
        here = local.get(identifier)
        newest = here if here is not None and here.version > entry.version else entry
        merged[identifier] = (Origin.REMOTE if here is None else Origin.MERGED, newest)
    return merged
