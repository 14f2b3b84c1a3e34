"""Plan, apply and confirm a batch on the real stores. Each can be repeated; the decisions are planning's."""

import asyncio
from collections import defaultdict
from datetime import datetime

from perdure.crashpoints import CrashPoint, reached
from perdure.entries import Memory, MemoryItem, Record, RecordItem, headline_of, item_id, record_text
from perdure.jobs import Batch, Decision, Fate, ItemReceipt, Plan, PlannedItem, UnusableItem
from perdure.memory.door import Door
from perdure.memory.writing.observation import observed, superseded
from perdure.memory.writing.planning import Known, WritePolicy, plan
from perdure.models.embedding import Embedder, Vector
from perdure.stores.redis.deletions import Deletions
from perdure.stores.weaviate.store import LongTerm

_NEIGHBOURS = 5
_QUERIES_AT_ONCE = 8
"""Neighbour queries in flight; more than the store has processors only queue there."""


class Writer:
    """The write path of long-term memory."""

    def __init__(
        self, *, longterm: LongTerm, embedder: Embedder, door: Door, deletions: Deletions, policy: WritePolicy
    ) -> None:
        self._longterm = longterm
        self._embedder = embedder
        self._door = door
        self._deletions = deletions
        self._policy = policy

    async def plan(self, batch: Batch, *, at: datetime) -> Plan:
        """Decide on each item, from what the stores know now."""
        usable = {index: item for index, item in enumerate(batch.items) if not isinstance(item, UnusableItem)}
        ids = {item_id(batch.tenant, item) for item in usable.values()}
        ids |= {item.supersedes for item in usable.values() if isinstance(item, MemoryItem) and item.supersedes}
        entries, deletions, neighbours = await asyncio.gather(
            self._longterm.get(batch.tenant, sorted(ids)),
            self._deletions.of(batch.tenant, sorted(ids)),
            self._neighbours(batch.tenant, usable),
        )
        heirs = {entry.superseded_by for entry in entries.values() if isinstance(entry, Memory) and entry.superseded_by}
        entries |= await self._longterm.get(batch.tenant, sorted(heirs - entries.keys()))
        # A twin is written at the version it has in the store, like every other target.
        for found in neighbours.values():
            entries |= {memory.id: memory for memory in found if memory.id not in entries}
        known = Known(entries=entries, deletions=deletions, neighbours=neighbours)
        decided = plan(batch, known, policy=self._policy, at=at)
        reached(CrashPoint.PLAN_DECIDED)
        return decided

    async def apply(self, batch: Batch, decided: Plan, *, operation: str) -> dict[str, int]:
        """Write what was decided, once for each operation id.

        Returns:
            The version of each record or memory afterwards.

        Raises:
            VersionConflict: What the plan was made from has changed: plan again.
        """
        work: dict[str, list[PlannedItem]] = defaultdict(list)
        replaced: dict[str, str] = {}
        for item in decided.items:
            if item.decision is not Decision.REJECT:
                work[item.target].append(item)
            offered = batch.items[item.index]
            if item.decision is Decision.SUPERSEDE and isinstance(offered, MemoryItem):
                replaced[offered.supersedes] = item.target
        if not work:
            return {}

        embedded = await self._embedded(batch, decided)
        vectors: dict[str, Vector] = {}

        def edit(identifier: str, stored: Record | Memory | None) -> Record | Memory:
            entry = stored
            for planned in work.get(identifier, ()):
                item = batch.items[planned.index]
                if not isinstance(item, UnusableItem):
                    entry = observed(entry, identifier, item, batch)
            if isinstance(entry, Memory) and identifier in replaced:
                entry = superseded(entry, replaced[identifier])
            if entry is None:
                raise AssertionError(f"{identifier} was expected and nothing was planned for it")
            headline = headline_of(entry.text)
            # The vector goes with the text: an item that came late has another one, and not the last word.
            if stored is None or headline != headline_of(stored.text):
                vectors[identifier] = embedded[headline]
            return entry

        return await self._door.change(
            batch.tenant, operation=operation, expected=decided.expected, edit=edit, vectors=vectors
        )

    async def confirm(self, batch: Batch, decided: Plan, versions: dict[str, int]) -> tuple[ItemReceipt, ...] | None:
        """Read back what was written, through a query as recall makes it.

        Returns:
            What became of each item, or None while not all of it can be found yet.
        """
        visible = await self._longterm.visible(batch.tenant, sorted(versions))
        if any(visible.get(identifier, 0) < version for identifier, version in versions.items()):
            return None
        reached(CrashPoint.CONFIRM_READ)
        return tuple(
            ItemReceipt(
                index=item.index,
                fate=Fate.REJECTED if item.decision is Decision.REJECT else Fate.SEARCHABLE,
                decision=item.decision,
                id=item.target,
                reason=item.reason,
            )
            for item in decided.items
        )

    async def _neighbours(
        self, tenant: str, usable: dict[int, RecordItem | MemoryItem]
    ) -> dict[int, tuple[Memory, ...]]:
        memories = {index: item for index, item in usable.items() if isinstance(item, MemoryItem)}
        vectors = await self._embedder.embed([item.content for item in memories.values()])
        gate = asyncio.Semaphore(_QUERIES_AT_ONCE)

        async def nominated(vector: Vector) -> tuple[Memory, ...]:
            async with gate:
                hits = await self._longterm.neighbours(tenant, vector, _NEIGHBOURS)
            return tuple(
                hit.entry
                for hit in hits
                if isinstance(hit.entry, Memory) and (hit.cosine or 0.0) >= self._policy.nominate
            )

        found = await asyncio.gather(*(nominated(vector) for vector in vectors))
        return dict(zip(memories, found, strict=True))

    async def _embedded(self, batch: Batch, decided: Plan) -> dict[str, Vector]:
        """Give the vector of each text that an entry may get."""
        texts: set[str] = set()
        for planned in decided.items:
            item = batch.items[planned.index]
            # A memory that is reinforced keeps its words; a record's headline can change.
            if isinstance(item, MemoryItem) and planned.decision in (Decision.INSERT, Decision.SUPERSEDE):
                texts.add(item.content)
            elif isinstance(item, RecordItem) and planned.decision is not Decision.REJECT:
                texts.add(headline_of(record_text(item)))
        ordered = sorted(texts)
        return dict(zip(ordered, await self._embedder.embed(ordered), strict=True))
