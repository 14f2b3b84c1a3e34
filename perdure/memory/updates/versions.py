"""Versions of entries, and items that did not become memory, from the journal's lines. Pure."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from perdure.errors import InvalidInput
from perdure.stores.journal.folded_state import counted, history
from perdure.stores.journal.lines import Changed, Forgotten, Line, Settled
from perdure.values.entries import Entry, Memory
from perdure.values.jobs import SettledJob
from perdure.values.updates import Rejection, Version


def versions(lines: Sequence[Line], identifier: str) -> list[Version]:
    """Return the versions of an entry that are kept, oldest first."""
    return [_version(line) for line in history(lines, identifier)]


def versions_by_entry(lines: Sequence[Line]) -> Mapping[str, Sequence[Version]]:
    """Return the versions of every entry that are kept, oldest first, by the entry's id."""
    found: defaultdict[str, list[Version]] = defaultdict(list)
    for line in counted(lines):
        found[line.entry.id].append(_version(line))
    return found


def version_of(changes: Sequence[Changed], version: int) -> Memory:
    """Return a memory as it was at a version.

    Args:
        changes: Its history.
        version: Which one.

    Raises:
        InvalidInput: It is gone, or there never was one; with those that are kept.
    """
    kept = {line.entry.version: line.entry for line in changes}
    entry = kept.get(version)
    if not isinstance(entry, Memory):
        there = ", ".join(map(str, sorted(kept))) or "none"
        raise InvalidInput(
            "version", f"{version} is not kept (kept: {there})", fix="perdure memories history shows them"
        )
    return entry


class OperationOutcome(NamedTuple):
    """The result of an operation that is done."""

    versions: dict[str, int]
    """The version of each entry that it changed."""
    made: list[Entry]
    """The entries as it wrote them."""


def outcome(lines: Sequence[Line], operation: str, identifier: str) -> OperationOutcome | None:
    """Return the result of an operation; None: it is not done.

    Args:
        lines: Those that name the operation or the memory, at least.
        operation: Its id.
        identifier: The memory that it was to change. What was done before that was purged was done to another one.
    """
    purged = [place for place, line in enumerate(lines) if _is_purge(line, identifier)]
    since = lines[purged[-1] + 1 :] if purged else lines
    settled = [line.versions for line in since if isinstance(line, Settled) and line.operation == operation]
    if not any(settled):
        return None
    made = [line.entry for line in since if isinstance(line, Changed) and line.operation == operation]
    return OperationOutcome({name: version for one in settled for name, version in one.items()}, made)


def _is_purge(line: Line, identifier: str) -> bool:
    return isinstance(line, Forgotten) and line.deletion.id == identifier and line.deletion.purged


def rejections(lines: Sequence[Line]) -> list[Rejection]:
    """Return what was refused lately, by a rule or a person, newest first."""
    found = [
        Rejection(job=line.operation, index=one.index, at=line.at, reason=one.reason)
        for line in lines
        if isinstance(line, Settled)
        for one in line.refused
        if not one.held
    ]
    return sorted({(one.job, one.index): one for one in found}.values(), key=lambda one: one.at, reverse=True)


def settled_jobs(lines: Sequence[Line], jobs: Collection[str]) -> list[SettledJob]:
    """Return what the lines record of the given jobs that are done.

    Args:
        lines: A tenant's lines.
        jobs: The ids of the jobs.
    """
    found: dict[str, SettledJob] = {}
    for line in lines:
        if isinstance(line, Settled) and line.operation in jobs:
            job = found.get(line.operation, SettledJob(job=line.operation))
            refused = {one.index: one for one in (*job.refused, *line.refused)}
            ids = tuple(dict.fromkeys((*job.ids, *line.versions)))
            found[line.operation] = job.changed(ids=ids, refused=tuple(refused[index] for index in sorted(refused)))
    return list(found.values())


def _version(line: Changed) -> Version:
    entry = line.entry
    return Version(version=entry.version, at=line.at, by=line.by, why=line.why, note=line.note, entry=entry)
