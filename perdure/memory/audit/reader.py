"""Reading the audit's files: to verify them, to show what they say, to find a line again, to remove old ones."""

import contextlib
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from perdure.memory.audit.verification import AuditReport, claims, removals, report
from perdure.stores.audit import files
from perdure.stores.audit.chain import Checked, body_of, check
from perdure.stores.audit.lines import ACTS, AuditHead, AuditKind, AuditLine, decode


def verified(folder: Path, key: bytes, known: Collection[AuditHead] | None) -> AuditReport:
    """Verify the audit, also while it is written.

    Args:
        folder: Its folder.
        key: The key of the chains.
        known: The heads that Redis knew before any file is read; None: it does not answer.
    """
    return _read(folder, key, known)[1]


def shown(folder: Path, key: bytes, tenant: str, since: datetime | None = None) -> list[AuditLine]:
    """Return who wrote, changed or read a tenant's memories, in the order of their times.

    Lines that are not as they were written are left out: ``verified`` names them.
    """
    found = [
        line
        for file in files.sizes(folder)
        for line in _checked(folder, key, file).lines.values()
        if line.kind in ACTS and line.tenant == tenant and (since is None or line.at >= since)
    ]
    return sorted(found, key=lambda line: line.at)


def is_written(folder: Path, line: AuditLine) -> bool:
    """Return whether a line of the same operation stands in any chain already, by an earlier attempt at it."""
    bodies = (body_of(raw) for raw in files.lines_of(folder, line.operation))
    found = (decode(body) for body in bodies if body is not None)
    return any(
        one is not None
        and (one.kind, one.tenant, one.operation, one.by) == (line.kind, line.tenant, line.operation, line.by)
        and _tells(one, line)
        for one in found
    )


def _tells(written: AuditLine, line: AuditLine) -> bool:
    """Return whether a line of the same operation reports the same as another one would.

    An operation on many entries has a line for each of its parts. A retry may give another reason for what it finds
    done: where it inserted, it says that it reinforced.
    """
    named = {one for some in written.ids.values() for one in some}
    return all(why in written.ids if not some else named.issuperset(some) for why, some in line.ids.items())


class AuditRemoval(NamedTuple):
    """Old files, and what another chain has to record before they are removed."""

    files: tuple[str, ...]
    removed: tuple[AuditHead, ...]
    """Their last lines; and those of files that were removed before, of which only these ones tell that."""
    held: tuple[AuditHead, ...]
    """The heads of files that stay, which these ones hold."""


def removable(folder: Path, key: bytes, known: Collection[AuditHead], before: datetime) -> AuditRemoval:
    """Return the files whose last line is older than a moment.

    A file that is in use stays, and so does one with a problem, or with a line about an accepted loss.
    """
    chains, found = _read(folder, key, known)
    old = [
        file
        for file in found.read
        if (last := chains[file].lines.get(chains[file].last)) is not None
        and last.at < before
        and not files.is_open(folder / file)
        and not any(line.kind is AuditKind.ACCEPTED for line in chains[file].lines.values())
    ]
    going = {file: chains[file] for file in old}
    left = {file: chain for file, chain in chains.items() if file not in going}
    sought = {head.file for head in (*known, *_heads(left))}
    told = removals(left)
    again = [head for file, head in removals(going).items() if file in sought and file not in told]
    held = {head.file: head for head in sorted(_heads(going), key=lambda head: head.line) if head.file in left}
    return AuditRemoval(tuple(old), (*(found.read[file] for file in old), *again), tuple(held.values()))


def _heads(chains: Mapping[str, Checked]) -> list[AuditHead]:
    return [claim.head for claim in claims(chains, {file: chain.last for file, chain in chains.items()})]


def _read(folder: Path, key: bytes, known: Collection[AuditHead] | None) -> tuple[dict[str, Checked], AuditReport]:
    sizes = files.sizes(folder)
    chains: dict[str, Checked] = {}
    limits: dict[str, int] = {}
    # Those that were begun meanwhile are read as well: what is read now may know of them.
    for file in (*sizes, *(one for one in files.sizes(folder) if one not in sizes)):
        with contextlib.suppress(FileNotFoundError):
            content = (folder / file).read_bytes()
            chains[file] = check(key, file, content)
            limits[file] = content.count(b"\n", 0, sizes.get(file, 0))
    alive = {file for file, chain in chains.items() if not chain.closed and files.is_open(folder / file)}
    return chains, report(chains, known, alive, limits)


def _checked(folder: Path, key: bytes, file: str) -> Checked:
    try:
        return check(key, file, (folder / file).read_bytes())
    except FileNotFoundError:
        return check(key, file, b"")
