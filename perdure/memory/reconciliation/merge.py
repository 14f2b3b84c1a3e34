"""Merges the entries of the long-term store with the journal and the deletion log. Pure: no store, no file."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from perdure.values.changes import Deletion, latest
from perdure.values.entries import Entry, State


class Origin(StrEnum):
    """Where an entry was found."""

    REMOTE = "remote"
    """In the store only: the journal lost it."""
    LOCAL = "local"
    """In the journal only: the store lost it."""
    MERGED = "merged"


class Merged(NamedTuple):
    """The changes that make store, journal and deletion log agree."""

    origins: Counter[Origin]
    """How many entries were found where."""
    write: tuple[Entry, ...]
    """Entries that the store lacks, or has in an earlier state, in their correct state."""
    journal: tuple[Entry, ...]
    """Entries that the journal lacks, or has in an earlier state."""
    purge: tuple[str, ...]
    """Entries that were purged, and are back."""


def reconcile(remote: Mapping[str, Entry], local: Mapping[str, Entry]) -> dict[str, tuple[Origin, Entry]]:
    """Merge by id: each id once, with where it was found; of two states of an entry the later version counts.

    Args:
        remote: What the store has.
        local: What the journal says was written.
    """
    merged = {identifier: (Origin.LOCAL, entry) for identifier, entry in local.items()}
    for identifier, entry in remote.items():
        here = local.get(identifier)
        newest = here if here is not None and here.version > entry.version else entry
        merged[identifier] = (Origin.REMOTE if here is None else Origin.MERGED, newest)
    return merged


def merge(
    remote: Mapping[str, Entry], local: Mapping[str, Entry], deletions: Mapping[str, Deletion], grace: timedelta
) -> Merged:
    """Return what has to be done.

    Args:
        remote: What the store has.
        local: What the journal says was written.
        deletions: The whole deletion log, from ``logged``: what it says was forgotten stays so.
        grace: How long forgetting can be undone.
    """
    origins: Counter[Origin] = Counter()
    write: list[Entry] = []
    journal: list[Entry] = []
    # An entry that is observed again after a purge restarts at version 1: one from before it must not be compared.
    remote, there = _without_purged(remote, deletions)
    local, here = _without_purged(local, deletions)
    purge = tuple(sorted((there | here) - remote.keys() - local.keys()))
    for identifier, (origin, newest) in reconcile(remote, local).items():
        deletion = deletions.get(identifier)
        gone = deletion is not None and deletion.restored_at is None and newest.newest[1] <= deletion.at
        entry = newest
        if deletion is not None and gone and (newest.state is not State.FORGOTTEN or newest.purge_after is None):
            tombstone = newest.forgotten(deletion.reason, deletion.at + grace, on_request=deletion.on_request)
            entry = tombstone.stamped(newest.version + 1, f"forget:{deletion.sweep}")
        origins[origin] += 1
        if _is_behind(remote, entry):
            write.append(entry)
        if _is_behind(local, entry):
            journal.append(entry)
    return Merged(origins, tuple(write), tuple(journal), purge)


def logged(
    entries: Mapping[str, Entry], one: Mapping[str, Deletion], other: Mapping[str, Deletion], *, at: datetime
) -> dict[str, Deletion]:
    """Return the deletion log, from two copies of it and from the tombstones of which neither knows.

    Args:
        entries: What is stored.
        one: A copy, by id.
        other: The other one.
        at: The time of forgetting for a tombstone that does not record it.
    """
    found = latest(one, other.values())
    for identifier, entry in entries.items():
        if entry.state is State.FORGOTTEN and identifier not in found:
            found[identifier] = Deletion.of(
                entry, at=at, reason=entry.forget_reason, sweep="reconcile", on_request=entry.on_request
            )
    return found


def _without_purged(
    entries: Mapping[str, Entry], deletions: Mapping[str, Deletion]
) -> tuple[dict[str, Entry], set[str]]:
    """Return what was not purged, and the ids of what was."""
    purged = {
        identifier
        for identifier, entry in entries.items()
        if (line := deletions.get(identifier)) is not None and line.purged and entry.newest[1] <= line.at
    }
    return {identifier: entry for identifier, entry in entries.items() if identifier not in purged}, purged


def _is_behind(where: Mapping[str, Entry], entry: Entry) -> bool:
    known = where.get(entry.id)
    return known is None or known.version < entry.version
