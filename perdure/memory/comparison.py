"""Which changes are left to make, once they are compared with what is stored and what was forgotten. Pure."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from perdure.errors import VersionConflict
from perdure.memory.writing.provenance import occurrence_of
from perdure.stores.journal.lines import Accepted
from perdure.values.changes import Actor, Change, Deletion, Refusal
from perdure.values.entries import Entry, State

Again = Callable[[], Awaitable[tuple[Sequence[Change], Sequence[Refusal]]]]
"""Plans an operation again: its changes, and the items of its batch that change nothing."""

Check = Callable[[], Coroutine[Any, Any, None]]
"""Raises VersionConflict if something that changes were planned from no longer holds, and no version shows it."""


async def nothing_more() -> None:
    """Check nothing but versions."""


class Compared(NamedTuple):
    """What is stored of an operation's entries, and what is still to be done."""

    stored: Mapping[str, Entry]
    pending: list[Change]
    """The changes that are still to be written."""
    made: list[Change]
    """The pending ones, and those that an earlier attempt at the operation has written."""
    unfinished: list[Deletion]
    """Lines of sweeps that had logged, but not yet forgotten, entries that the pending changes write."""


def compared(changes: Sequence[Change], stored: Mapping[str, Entry], deletions: Mapping[str, Deletion]) -> Compared:
    """Compare changes with what is stored.

    Args:
        changes: The changes of one operation.
        stored: The entries that they change, as far as there are any.
        deletions: The lines of the deletion log on them.

    Raises:
        VersionConflict: An entry is not at the version that its change expects, or a new one was forgotten, and
            purged, after it was planned.
    """
    pending = [change for change in changes if _is_pending(change, stored.get(change.id))]
    unfinished: list[Deletion] = []
    for change in pending:
        deletion, entry = deletions.get(change.id), change.entry
        if deletion is None or entry.state is State.FORGOTTEN:
            continue
        if change.expected == 0 and any(deletion.covers(one, entry.newest[1]) for one in entry.occurrences):
            raise VersionConflict(f"{change.id} was forgotten after it was planned")
        if deletion.is_unfinished(stored.get(change.id)):
            unfinished.append(deletion)
    earlier = [change for change in changes if _is_made(change, stored.get(change.id))]
    return Compared(stored, pending, [*earlier, *pending], unfinished)


def in_rounds(changes: Sequence[Change], written: Sequence[Entry]) -> list[list[Entry]]:
    """Return what is written in the order in which it may be: each entry after those that its change comes after.

    New texts come first, so that what they replace stays believed where the store refuses one. Where nothing depends on
    anything else, there are one round of new texts and one of what is stored already.

    Args:
        changes: The changes of one operation.
        written: The entries as they will be; one without a change depends on nothing.
    """
    by_id = {change.id: change for change in changes}
    waiting, rounds = {entry.id: entry for entry in written}, list[list[Entry]]()

    def is_new(identifier: str) -> bool:
        return identifier in by_id and by_id[identifier].vector is not None

    while waiting:
        free = [one for one in waiting if one not in by_id or waiting.keys().isdisjoint(by_id[one].after - {one})]
        if not rounds:
            free = list(filter(is_new, free)) or free
        # What replaces each other has no order.
        rounds.append([waiting.pop(one) for one in free or [*waiting]])
    return rounds


def _is_pending(change: Change, entry: Entry | None) -> bool:
    if _is_made(change, entry):
        return False
    if (entry.version if entry else 0) != change.expected:
        raise VersionConflict(f"{change.id} is no longer at version {change.expected}")
    return change.entry != entry


def _is_made(change: Change, entry: Entry | None) -> bool:
    return entry is not None and change.operation in entry.operations and not change.corrects


def purgeable(expected: Mapping[str, int], stored: Mapping[str, Entry], at: datetime) -> list[str]:
    """Return the ids of what may be removed for good: forgotten, unchanged since it was chosen, and past its time.

    Args:
        expected: The version of each entry when it was chosen.
        stored: Those of them that are stored; the others are gone already.
        at: The moment up to which their time to be restored has to be over.
    """

    def is_over(identifier: str, version: int) -> bool:
        entry = stored.get(identifier)
        # Versions restart with what is observed after a purge, so a late attempt looks at more than them.
        return entry is None or (
            entry.version == version
            and entry.state is State.FORGOTTEN
            and entry.purge_after is not None
            and entry.purge_after <= at
        )

    return [identifier for identifier, version in expected.items() if is_over(identifier, version)]


def observed_anew(tenant: str, line: Accepted, deletions: Mapping[str, Deletion]) -> bool:
    """Return whether an accepted item was observed after its entry was purged: its job is still to come.

    In other words, an entry has another id, which the line of the deletion log has.
    """
    deletion = deletions.get(line.id) or next((one for one in deletions.values() if line.id in one.wordings), None)
    return deletion is not None and not deletion.covers(occurrence_of(tenant, line.item), line.recorded or line.at)


def reasons(changes: Sequence[Change]) -> dict[Actor, dict[str, list[str]]]:
    """Return the ids that each actor changed, for each reason."""
    found: dict[Actor, dict[str, list[str]]] = {}
    for change in changes:
        found.setdefault(change.by, {}).setdefault(change.why, []).append(change.id)
    return found
