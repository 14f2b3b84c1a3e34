"""Finds what ends with a change that is still to come, and how it goes on without that change."""

from perdure.memory.updates import future_changes
from perdure.memory.updates.plans import AskedChange
from perdure.stores.journal.log import Journal
from perdure.stores.weaviate.store import LongTerm
from perdure.values.entries import Entry, Memory


class Endings:
    """What ends with changes that are still to come.

    Args:
        longterm: Where the memories are.
        journal: Knows until when each was to hold before.
    """

    def __init__(self, longterm: LongTerm, journal: Journal) -> None:
        self._longterm = longterm
        self._journal = journal

    async def of(self, asked: AskedChange, change: Entry) -> list[tuple[Memory, Memory]]:
        """Return what ends with a change, each as it is, and as it was to go on before; nothing if it has come."""
        if not (isinstance(change, Memory) and future_changes.is_coming(change, asked.at)):
            return []
        # It names one of them; what else it contradicts is about the same.
        stored = await self._longterm.get(asked.tenant, [change.supersedes] if change.supersedes else [])
        terms = set(change.assertion.about) if change.assertion else set[str]()
        about = await self._longterm.about(asked.tenant, terms, {change.text})
        ended = {one.id: one for one in future_changes.ended_by(change, (*stored.values(), *about))}
        return [(one, await self._unended(asked.tenant, one)) for one in ended.values()]

    async def _unended(self, tenant: str, memory: Memory) -> Memory:
        history = await self._journal.history(tenant, memory.id)
        versions = (line.entry for line in reversed(history) if isinstance(line.entry, Memory))
        before = next((one for one in versions if one.superseded_by != memory.superseded_by), None)
        return future_changes.unended(memory, before.valid_until if before else None)
