"""Plan, apply and confirm a batch on the real stores. Each can be repeated; ``planning`` makes the decisions."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import TenantErased, VersionConflict, WorkerUnavailable
from perdure.memory.consent_book import ConsentBook
from perdure.memory.door import Door
from perdure.memory.extraction.content_words import says_it_was_otherwise
from perdure.memory.heirs import mergers, with_wholes
from perdure.memory.repair import Repair
from perdure.memory.write_policies import WritePolicy, policy_of
from perdure.memory.writing.needs import about, named_by, statements, successors_of, usable
from perdure.memory.writing.observation import WRITING, applied, successors, unusable, without
from perdure.memory.writing.planning import Known, plan
from perdure.memory.writing.provenance import purpose_of
from perdure.memory.writing.receipts import receipts, refusals
from perdure.model import OpenEnum
from perdure.models.embedding import Embedder, Vector
from perdure.refusals import ContentRefused
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.tolerance import changed_back
from perdure.values.assertions import ABOUT_AT_MOST, SHARING
from perdure.values.changes import Change, Refusal
from perdure.values.consents import withheld
from perdure.values.entries import Entry, Memory, headline_of
from perdure.values.items import item_text
from perdure.values.jobs import Applied, Batch, ItemReceipt, UnusableItem, WritePlan

_AT_ONCE = 8
"""Searches for one batch at the same time."""

APPROVED = "approve"
"""The reason for a write that a person has approved."""

REWORDED = "approve reworded"
"""The reason for a write that a person has approved in their own words."""


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
        erasures: RedisErasures,
        consents: ConsentBook,
        policies: Mapping[str, WritePolicy],
    ) -> None:
        self._longterm = longterm
        self._embedder = embedder
        self._door = door
        self._repair = repair
        self._deletions = deletions
        self._erasures = erasures
        self._consents = consents
        self._policies = policies

    async def plan(self, batch: Batch, *, at: datetime) -> WritePlan:
        """Decide on each item, from what the stores know now.

        Raises:
            StoreLost: A store lost data, and knew too little.
        """
        decided = await self._plan(batch, at=at)
        await self._door.require()
        reached(CrashPoint.PLAN_DECIDED)
        return decided

    async def _plan(self, batch: Batch, *, at: datetime, operation: str = "") -> WritePlan:
        ids = named_by(batch)
        entries, deletions, (beside, older), consents = await together(
            self._longterm.get(batch.tenant, sorted(ids)),
            self._deletions.covering(batch.tenant, sorted(ids)),
            self._beside(batch),
            self._consents.of(batch.tenant),
        )
        linked = successors_of(entries.values())
        if any(operation in entry.operations for entry in entries.values()):
            # What an earlier attempt has replaced is no longer among what is believed.
            linked |= await self._door.begun(batch.tenant, operation)
        linked -= entries.keys()
        more, gone = await together(
            self._longterm.get(batch.tenant, sorted(linked)), self._deletions.of(batch.tenant, sorted(linked))
        )
        leading_on = {one.id: one for one in mergers(more.values())}
        read, asked = partial(self._longterm.get, batch.tenant), {*entries, *linked}
        entries = entries | more | await with_wholes(leading_on, read, missing=asked)
        deletions = gone | deletions
        entries |= {memory.id: memory for memory in beside if memory.id not in entries}
        _require_known(entry.state for entry in entries.values())
        known = Known(
            entries=entries, deletions=deletions, withheld=withheld(consents), older=older, operation=operation
        )
        policy, epoch = policy_of(self._policies, batch.policy), await self.epoch(batch)
        # A hundred statements about changes, compared with a thousand memories, take seconds: heartbeats must go on.
        return await asyncio.to_thread(plan, batch, known, policy=policy, at=at, epoch=epoch)

    async def _beside(self, batch: Batch) -> tuple[list[Memory], int]:
        """Return the memories that the items may be about, or may say the contrary of in other words.

        And how many memories about the same are not all looked at, as they are too many.
        """
        few = asyncio.Semaphore(_AT_ONCE)

        async def sharing(text: str) -> list[Memory]:
            async with few:
                return await self._longterm.sharing_words(batch.tenant, text, limit=SHARING)

        terms, said = about(batch), statements(batch)
        changing = {text for text in said if says_it_was_otherwise(text)}
        alike, *found = await together(
            self._longterm.about(batch.tenant, terms, said - changing), *map(sharing, sorted(changing))
        )
        is_cut = len(alike) >= ABOUT_AT_MOST
        older = await self._longterm.count_about(batch.tenant, terms) - ABOUT_AT_MOST if is_cut else 0
        return [*alike, *(memory for memories in found for memory in memories)], max(0, older)

    async def epoch(self, batch: Batch) -> int:
        """Return the user's epoch when a batch was accepted.

        Raises:
            TenantErased: Redis did not answer then, and the user was erased since.
        """
        if batch.epoch is not None:
            return batch.epoch
        erased = await self._erasures.of(batch.tenant)
        if erased and batch.began and batch.began <= erased.at:
            raise TenantErased("the user's memory was erased after this was accepted")
        return await self._door.epoch(batch.tenant)

    async def apply(self, batch: Batch, decided: WritePlan, *, operation: str) -> Applied:
        """Write the decisions, once for each operation id; what the store refuses for its content is left out.

        If the state that the plan was made from has changed, it is made again under the lease, under which nothing
        changes: so a job needs two plans at most, however many other jobs write the same.

        Raises:
            TenantErased: The user was erased after the batch was accepted.
        """
        _require_known(item.decision for item in decided.items)
        # Before the lease, and of all items: which of them the second plan inserts is not known yet.
        vectors: dict[str, Vector] = {}
        if any(item.decision in WRITING for item in decided.items):
            vectors = await self._embedded(batch)
        refused: dict[str, str] = {}
        while True:
            try:
                return await self._applied(batch, decided, vectors, operation, refused)
            except ContentRefused as error:
                # There are more each time, and what was written already is recognised.
                if error.reasons.keys() <= refused.keys():
                    raise
                refused |= error.reasons

    async def _applied(
        self,
        batch: Batch,
        decided: WritePlan,
        vectors: Mapping[str, Vector],
        operation: str,
        reasons: Mapping[str, str],
    ) -> Applied:
        """Write the decisions, but for the entries that the store is known to refuse: why, by id.

        Raises:
            ContentRefused: The store refuses others.
        """
        refused = refusals(decided)
        if len(refused) == len(decided.items):
            await self._door.refuse(batch.tenant, operation, refused, epoch=decided.epoch)
            return Applied(versions={})
        anew: list[WritePlan] = []

        async def again() -> tuple[Sequence[Change], Sequence[Refusal]]:
            planned = await self._planned_again(unusable(batch, reasons), decided, operation)
            anew[:] = [without(batch, planned, reasons)]
            return await self._changes(batch, anew[0], vectors, operation, reasons), refusals(anew[0])

        changes: list[Change] = []
        # What another job has written since, that contradicts these, has changed no entry that they know: only a plan
        # under the lease sees it. Nor do they know what is left where the store has refused something.
        if not reasons and not about(batch) and not any(map(says_it_was_otherwise, statements(batch))):
            with suppress(VersionConflict):
                changes = await self._changes(batch, decided, vectors, operation)
        versions = await self._door.change(
            batch.tenant,
            changes,
            epoch=decided.epoch,
            refused=refused,
            operation=operation,
            check=lambda: self._require_consent(batch, decided),
            again=again,
        )
        return Applied(versions=versions, plan=anew[0] if anew and anew[0] != decided else None)

    async def _planned_again(self, batch: Batch, first: WritePlan, operation: str) -> WritePlan:
        """Decide again on the items that a plan would write; rejected ones stay rejected."""
        items = tuple(
            batch.items[item.index] if item.decision in WRITING else UnusableItem(reason=item.reason)
            for item in first.items
        )
        again = changed_back(batch, items=items, epoch=first.epoch)
        anew = await self._plan(again, at=first.at, operation=operation)
        decided = [
            now if before.decision in WRITING else before for before, now in zip(first.items, anew.items, strict=True)
        ]
        return anew.changed(items=tuple(decided))

    async def _require_consent(self, batch: Batch, decided: WritePlan) -> None:
        """Check that what a plan writes is still consented to.

        Raises:
            VersionConflict: It is not.
            StoreUnavailable: Neither Redis nor the journal can tell.
        """
        items = usable(batch)
        purposes = {purpose_of(batch, items[one.index]) for one in decided.items if one.decision in WRITING}
        if not purposes.isdisjoint(withheld(await self._consents.of(batch.tenant))):
            raise VersionConflict("the user no longer consents to something that was planned")

    async def _changes(
        self,
        batch: Batch,
        decided: WritePlan,
        vectors: Mapping[str, Vector],
        operation: str,
        reasons: Collection[str] = (),
    ) -> list[Change]:
        """Return the changes that a plan makes, but for the entries that the store is known to refuse.

        Raises:
            VersionConflict: An entry that it changes is no longer there.
        """
        known = [identifier for identifier, version in decided.expected.items() if version]
        stored = await self._longterm.get(batch.tenant, known)
        if missing := set(known) - stored.keys():
            raise VersionConflict(f"{len(missing)} entries are no longer there to be changed")
        changes: list[Change] = []
        after = successors(batch, decided)
        for identifier, (entry, decision) in applied(batch, decided, stored, reasons).items():
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
                    why=_why(batch) or decision.value,
                    note=batch.approved.note if batch.approved else "",
                    operation=operation,
                    corrects=before is not None and operation in before.operations and _is_unlinked(before, entry),
                    after=frozenset(after.get(identifier, ())),
                )
            )
        return changes

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
        return receipts(decided)

    async def _found(self, tenant: str, versions: dict[str, int]) -> bool:
        found = await self._longterm.searchable(tenant, sorted(versions))
        return all(found.get(identifier, 0) >= version for identifier, version in versions.items())

    async def _embedded(self, batch: Batch) -> dict[str, Vector]:
        """Return the vector of each text that an entry may get."""
        ordered = sorted({headline_of(item_text(item)) for item in usable(batch).values()})
        return dict(zip(ordered, await self._embedder.embed(ordered), strict=True))


def _is_unlinked(before: Entry, after: Entry) -> bool:
    return isinstance(before, Memory) and isinstance(after, Memory) and before.supersedes != "" == after.supersedes


def _why(batch: Batch) -> str:
    if batch.approved is None:
        return ""
    return REWORDED if batch.approved.reworded else APPROVED


def _require_known(values: Iterable[OpenEnum]) -> None:
    """Leave a job to the workers of a newer build if that decided, or stored, something unknown to this one.

    Raises:
        WorkerUnavailable: Naming what it is.
    """
    if newer := sorted({value.value for value in values if not value.known}):
        raise WorkerUnavailable(f"a newer build wrote {', '.join(newer)}: its workers have to go on")
