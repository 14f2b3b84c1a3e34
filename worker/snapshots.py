"""A memory as it is at one moment, by the journal and the log of deletions; the stores add how often each was used."""

import asyncio
from collections.abc import Iterable

from perdure.entries import Entry
from perdure.stores.journal.folding import fold
from perdure.stores.journal.lines import Line
from perdure.together import together
from worker.wiring.reading import ReadingServices

_COUNTED_AT_ONCE = 1_000
"""Entries of which the counts are read in one query."""


async def whole(reading: ReadingServices, tenant: str) -> tuple[list[Line], dict[str, Entry]]:
    """Return a tenant's lines of the journal and the entries that they add up to: a snapshot of one moment.

    Raises:
        StoreUnavailable: A store does not answer, or has lost data, so that the answer would be incomplete.
    """
    await reading.installation.require(reading.tenant_key)
    await reading.whole.require()
    lines, log = await together(reading.journal.read(tenant), reading.deletions.all(tenant))
    folded = await asyncio.to_thread(fold, lines, log)
    gone = {line.id for line in folded.deletions.values() if line.purged and line.restored_at is None}
    return lines, {
        identifier: entry
        for identifier, entry in folded.entries.items()
        if identifier not in gone or entry.newest[1] > folded.deletions[identifier].at
    }


async def counted(reading: ReadingServices, tenant: str, entries: Iterable[Entry]) -> list[Entry]:
    """Return entries with their uses and trials, which the journal gets no line for."""
    found = list(entries)
    for first in range(0, len(found), _COUNTED_AT_ONCE):
        part = found[first : first + _COUNTED_AT_ONCE]
        stored = await reading.longterm.get(tenant, [entry.id for entry in part])
        found[first : first + len(part)] = [
            entry.counted_as(there) if (there := stored.get(entry.id)) and there.version == entry.version else entry
            for entry in part
        ]
    return found
