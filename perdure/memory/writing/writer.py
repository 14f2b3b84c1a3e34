"""Plan, apply and confirm a batch on the real stores. Each can be repeated; the decisions are planning's."""

import asyncio
from collections.abc import Iterable
from datetime import datetime

from perdure.changes import Change, Refusal
from perdure.crashpoints import CrashPoint, reached
from perdure.entries import Memory, MemoryItem, RecordItem, headline_of, item_id, record_text
from perdure.errors import VectorIndexDamaged, VersionConflict, WorkerUnavailable
from perdure.jobs import Batch, Decision, Fate, ItemReceipt, UnusableItem, WritePlan
from perdure.memory.door import Door
from perdure.memory.repair import Repair
from perdure.memory.writing.observation import WRITING, applied
from perdure.memory.writing.planning import Known, WritePolicy, plan
from perdure.model import OpenEnum
from perdure.models.embedding import Embedder, Vector
from perdure.stores.redis.deletions import Deletions
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together

_NEIGHBOURS = 5
_QUERIES_AT_ONCE = 8
"""Neighbour queries in flight; more than the store has processors only queue there."""


class Writer:
    """The write path of long-term memory."""

    def __init__(
        self,
        *,
        longterm: LongTerm,
        embedder: Embedder,
        door: Door,
        repair: Repair,
        deletions: Deletions,
        policy: WritePolicy,
    ) -> None:
        self._longterm = longterm
        self._embedder = embedder
        self._door = door
        self._repair = repair
        self._deletions = deletions
        self._policy = policy

    async def plan(self, batch: Batch, *, at: datetime) -> WritePlan:
        """Decide on each item, from what the stores know now."""
        usable = {index: item for index, item in enumerate(batch.items) if not isinstance(item, UnusableItem)}
        ids = {item_id(batch.tenant, item) for item in usable.values()}
        ids |= {item.supersedes for item in usable.values() if isinstance(item, MemoryItem) and item.supersedes}
        (entries, deletions), neighbours = await together(
            together(self._longterm.get(batch.tenant, sorted(ids)), self._deletions.of(batch.tenant, sorted(ids))),
            self._neighbours(batch.tenant, usable),
        )
        heirs = {entry.superseded_by for entry in entries.values() if isinstance(entry, Memory) and entry.superseded_by}
        entries |= await self._longterm.get(batch.tenant, sorted(heirs - entries.keys()))
        # A twin is written at the version it has in the store, like every other target.
        for found in neighbours.values():
            entries |= {memory.id: memory for memory in found if memory.id not in entries}
        _require_known(entry.state for entry in entries.values())
        known = Known(entries=entries, deletions=deletions, neighbours=neighbours)
        epoch = await self._door.epoch(batch.tenant) if batch.epoch is None else batch.epoch
        decided = plan(batch, known, policy=self._policy, at=at, epoch=epoch)
        reached(CrashPoint.PLAN_DECIDED)
        return decided

    async def apply(self, batch: Batch, decided: WritePlan, *, operation: str) -> dict[str, int]:
        """Write what was decided, once for each operation id.

        Returns:
            The version of each record or memory afterwards.

        Raises:
            VersionConflict: What the plan was made from has changed: plan again.
            TenantErased: The user was erased after the batch was accepted.
        """
        _require_known(item.decision for item in decided.items)
        refused = [
            Refusal(index=item.index, id=item.target, reason=item.reason)
            for item in decided.items
            if item.decision not in WRITING
        ]
        known = [identifier for identifier, version in decided.expected.items() if version]
        stored, vectors = await together(self._longterm.get(batch.tenant, known), self._embedded(batch, decided))
        if missing := set(known) - stored.keys():
            raise VersionConflict(f"{len(missing)} entries are no longer there to be changed")
        changes: list[Change] = []
        for identifier, (entry, decision) in applied(batch, decided, stored).items():
            before, headline = stored.get(identifier), headline_of(entry.text)
            # The vector goes with the text: an item that came late has another one, and not the last word.
            is_new = before is None or headline != headline_of(before.text)
            changes.append(
                Change(
                    id=identifier,
                    expected=decided.expected[identifier],
                    entry=entry,
                    vector=vectors.get(headline) if is_new else None,
                    by=batch.author,
                    why=decision.value,
                    operation=operation,
                )
            )
        if not changes:
            await self._door.refuse(batch.tenant, operation, refused)
            return {}
        return await self._door.change(batch.tenant, changes, epoch=decided.epoch, refused=refused)

    async def refuse(self, batch: Batch, reason: str, *, operation: str) -> None:
        """Settle a batch of which nothing becomes memory."""
        refused = [Refusal(index=index, reason=reason) for index in range(len(batch.items))]
        await self._door.refuse(batch.tenant, operation, refused)

    async def settled_again(self, tenant: str, job: str) -> None:
        """Erase the items of a settled job, whose batch was journaled once more."""
        await self._door.redact_settled(tenant, job)

    async def confirm(
        self, batch: Batch, decided: WritePlan, versions: dict[str, int]
    ) -> tuple[ItemReceipt, ...] | None:
        """Read back what was written, by meaning as recall does, and repair what is stored but not found.

        Returns:
            What became of each item, or None if not all of it is stored as it was written: it may have been purged.

        Raises:
            LeaseLost: Another writer holds the tenant, so nothing could be repaired yet.
            StoreUnavailable: A store does not answer, or its search finds not even what was repaired.
        """
        _require_known(item.decision for item in decided.items)
        if not await self._found(batch.tenant, versions):
            await self._repair.repair(batch.tenant, sorted(versions))
            if not await self._found(batch.tenant, versions):
                return None
        reached(CrashPoint.CONFIRM_READ)
        return tuple(
            ItemReceipt(
                index=item.index,
                fate=Fate.SEARCHABLE if item.decision in WRITING else Fate.REJECTED,
                decision=item.decision,
                id=item.target,
                reason=item.reason,
            )
            for item in decided.items
        )

    async def _found(self, tenant: str, versions: dict[str, int]) -> bool:
        found = await self._longterm.searchable(tenant, sorted(versions))
        return all(found.get(identifier, 0) >= version for identifier, version in versions.items())

    async def _neighbours(
        self, tenant: str, usable: dict[int, RecordItem | MemoryItem]
    ) -> dict[int, tuple[Memory, ...]]:
        memories = {index: item for index, item in usable.items() if isinstance(item, MemoryItem)}
        vectors = await self._embedder.embed([item.content for item in memories.values()])
        gate = asyncio.Semaphore(_QUERIES_AT_ONCE)

        async def nominated(vector: Vector) -> tuple[Memory, ...]:
            async with gate:
                try:
                    hits = await self._longterm.neighbours(tenant, vector, _NEIGHBOURS)
                except VectorIndexDamaged:
                    # Ids find what states the same; this job's confirmation repairs the index.
                    return ()
            return tuple(
                hit.entry
                for hit in hits
                if isinstance(hit.entry, Memory) and (hit.cosine or 0.0) >= self._policy.nominate
            )

        found = await together(*(nominated(vector) for vector in vectors))
        return dict(zip(memories, found, strict=True))

    async def _embedded(self, batch: Batch, decided: WritePlan) -> dict[str, Vector]:
        """Return the vector of each text that an entry may get."""
        texts: set[str] = set()
        for planned in decided.items:
            item = batch.items[planned.index]
            # A memory that is reinforced keeps its words; a record's headline can change.
            if isinstance(item, MemoryItem) and planned.decision in (Decision.INSERT, Decision.SUPERSEDE):
                texts.add(item.content)
            elif isinstance(item, RecordItem) and planned.decision in WRITING:
                texts.add(headline_of(record_text(item)))
        ordered = sorted(texts)
        return dict(zip(ordered, await self._embedder.embed(ordered), strict=True))


def _require_known(values: Iterable[OpenEnum]) -> None:
    """Leave a job to the workers of a newer build where it decided, or stored, what this one does not know.

    Raises:
        WorkerUnavailable: Naming what it is.
    """
    if newer := sorted({value.value for value in values if not value.known}):
        raise WorkerUnavailable(f"a newer build wrote {', '.join(newer)}: its workers have to go on")
