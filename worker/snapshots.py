"""A memory as it is at one moment, by the journal and the log of deletions; the stores add how often each was used."""

import asyncio
from collections.abc import Iterable

from perdure.identity import session_digest
from perdure.memory.updates.exports import ExportedEpisode, ExportedSessionItem
from perdure.stores.journal.folded_state import fold
from perdure.stores.journal.lines import Line
from perdure.stores.redis.session_items import SessionItemStore
from perdure.together import together
from perdure.values.entries import Entry
from worker.wiring.reading_services import ReadingServices

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


async def happened(reading: ReadingServices, tenant: str) -> list[ExportedEpisode]:
    """Return what happened in a tenant's sessions, also what waits on this machine for Redis."""
    waiting = await reading.spool.read(tenant)
    kept = await reading.episodes.everything(tenant)
    found = {(session, one.id): one for session, episodes in kept.items() for one in episodes}
    for one in waiting.episodes:
        found.setdefault((session_digest(one.session), one.episode.id), one.episode)
    return [ExportedEpisode(session=session, episode=one) for (session, _), one in found.items()]


async def session_items(reading: ReadingServices, tenant: str) -> list[ExportedSessionItem]:
    """Return what a tenant's agents keep in their sessions, in the order of each."""
    kept = await SessionItemStore(reading.redis).everything(tenant)
    return [
        ExportedSessionItem(session=session, place=place, item=item)
        for session, items in kept.items()
        for place, item in enumerate(items)
    ]
