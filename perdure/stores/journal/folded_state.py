"""The state that the journal's lines add up to, and which lines are still needed. Pure: no file, store or clock."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from perdure.stores.journal.lines import (
    Accepted,
    Changed,
    Consented,
    Enrolled,
    Forgotten,
    Line,
    Named,
    Rewriting,
    Settled,
)
from perdure.values.changes import Deletion, latest
from perdure.values.consents import latest as latest_consents
from perdure.values.entries import Entry
from perdure.values.memberships import latest as latest_memberships

HISTORY = timedelta(days=90)
"""How long compaction keeps the lines that only serve as history."""


class Folded(NamedTuple):
    """The state that a tenant's lines add up to."""

    entries: dict[str, Entry]
    """By id, each as it was last written, whatever its state."""
    deletions: dict[str, Deletion]
    pending: tuple[Accepted, ...]
    """Items whose jobs are not done, oldest first."""


def fold(lines: Iterable[Line], log: Iterable[Deletion] = ()) -> Folded:
    """Return the state that the lines add up to.

    Args:
        lines: A tenant's lines.
        log: The deletion log as another store has it, which may have more lines.

    A deletion counts at once: an entry that was not recorded after it is forgotten, whether or not its tombstone is
    known to be written.
    """
    lines = list(lines)
    own = {line.deletion.id: line.deletion for line in lines if isinstance(line, Forgotten)}
    deletions = latest(own, log)
    entries = {line.entry.id: line.entry for line in counted(lines)}
    for identifier, deletion in deletions.items():
        entry = entries.get(identifier)
        if entry is not None and deletion.restored_at is None and entry.newest[1] <= deletion.at:
            entries[identifier] = entry.forgotten(deletion.reason, entry.purge_after, on_request=deletion.on_request)
    settled = _operations(lines)
    pending = {(line.job, line.index): line for line in lines if isinstance(line, Accepted) and line.job not in settled}
    return Folded(entries, deletions, tuple(pending.values()))


def counted(lines: Sequence[Line]) -> list[Changed]:
    """Return the changes that are known to have been written, oldest first.

    A change is journaled before it is written, so a line of its own proves nothing: it counts once its operation is
    settled, or is carried by what a later operation wrote. Of two lines with one version, the first was never written.
    """
    settled: dict[tuple[str, str], int] = {}
    carried: defaultdict[str, set[str]] = defaultdict(set)
    versions: set[tuple[str, int]] = set()
    found: list[Changed] = []
    for line in reversed(lines):
        if isinstance(line, Settled):
            for identifier, version in line.versions.items():
                place = (line.operation, identifier)
                settled[place] = max(version, settled.get(place, 0))
        elif isinstance(line, Changed):
            entry = line.entry
            written = line.operation in carried[entry.id]
            written |= settled.get((line.operation, entry.id), 0) >= entry.version
            if written and (entry.id, entry.version) not in versions:
                found.append(line)
            versions.add((entry.id, entry.version))
            carried[entry.id].update(name for name in entry.operations if name != line.operation)
    return found[::-1]


def history(lines: Sequence[Line], identifier: str) -> list[Changed]:
    """Return the changes of one entry, oldest first."""
    return [line for line in counted(lines) if line.entry.id == identifier]


def refused(lines: Sequence[Line], settled: Settled) -> list[bool]:
    """Return for each line whether it holds text of what an operation refused.

    These are the refused items, and the changes that an earlier attempt at the operation journaled and did not write.
    """
    places = {item.index for item in settled.refused}
    written = {id(line) for line in counted([*lines, settled])}
    return [
        line.index in places
        if isinstance(line, Accepted) and line.job == settled.operation
        else isinstance(line, Changed) and line.operation == settled.operation and id(line) not in written
        for line in lines
    ]


def needed(lines: Sequence[Line | None], now: datetime) -> list[bool]:
    """Return for each line whether compaction keeps it.

    It keeps the last written state of each entry, what may still turn out to be written, deletions, items whose jobs
    are not done, 90 days of history, and every line of a newer build (None).
    """
    understood = [line for line in lines if line is not None]
    last = {line.entry.id: id(line) for line in counted(understood)}
    deletion = {line.deletion.id: id(line) for line in understood if isinstance(line, Forgotten)}
    settled = _operations(understood)
    said = latest_consents(line.consent for line in understood if isinstance(line, Consented))
    members = latest_memberships(line.membership for line in understood if isinstance(line, Enrolled))
    named = {line.owner: id(line) for line in understood if isinstance(line, Named)}
    recent = now - HISTORY
    kept: list[bool] = []
    passed: set[str] = set()
    operations: set[str] = set()
    for line in lines:
        match line:
            case None:
                kept.append(True)
            case Rewriting():
                kept.append(line.at > recent)
            case Accepted():
                kept.append(line.job not in settled)
            case Changed():
                if last.get(line.entry.id) == id(line):
                    passed.add(line.entry.id)
                keep = line.at > recent or line.entry.id in passed or line.entry.id not in last
                kept.append(keep)
                operations |= {line.operation} if keep else set()
            case Forgotten():
                kept.append(line.deletion.at > recent or deletion[line.deletion.id] == id(line))
            case Consented():
                kept.append(line.consent.at > recent or said.get(line.consent.purpose) is line.consent)
            case Enrolled():
                kept.append(line.membership.at > recent or members[line.membership.member] is line.membership)
            case Named():
                kept.append(named[line.owner] == id(line))
            case Settled():
                # Lines that prove what is kept stay with it; they come after it.
                kept.append(line.at > recent or line.operation in operations)
    return kept


def _operations(lines: Iterable[Line]) -> set[str]:
    return {line.operation for line in lines if isinstance(line, Settled)}
