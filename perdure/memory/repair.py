"""Makes what is stored searchable again where a write was cut off. Changes no entry: each keeps version and operations.

Writing an entry again does not bring it into Weaviate's vector index, since the store takes it for unchanged (measured
on 1.35.2); deleting and writing does. Until it is written again, the journal holds it and Redis knows its id, so that
every writer who takes the tenant's lease restores it first.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import structlog

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import EntryUnreadable, StoreUnavailable
from perdure.memory.retention import earliest_due
from perdure.models.embedding import Embedder, Vector
from perdure.plurals import counted
from perdure.refusals import ContentRefused
from perdure.stores.journal.lines import Rewriting, of_kind
from perdure.stores.journal.log import Journal
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.leases import Lease, Leases
from perdure.stores.weaviate.store import LongTerm
from perdure.values.entries import Entry, headline_of

_log = structlog.get_logger(__name__)

_AT_ONCE = 50
"""Entries that are rewritten under one lease: some 0.1 s, and as many as the door writes in one call."""


class Repair:
    """Finds and repairs entries that filters find and the search by meaning does not."""

    def __init__(
        self,
        *,
        longterm: LongTerm,
        embedder: Embedder,
        journal: Journal,
        leases: Leases,
        checks: Checks,
        due: DueIndex,
        client_timeout: float,
    ) -> None:
        """Wire the repair.

        Args:
            longterm: The store.
            embedder: The model whose vectors it holds: they are computed anew.
            journal: Where an entry is written before it is deleted.
            leases: One writer a tenant.
            checks: Who is to be checked, and what is being rewritten.
            due: Each tenant's next due date.
            client_timeout: As for the door.
        """
        self._longterm = longterm
        self._embedder = embedder
        self._journal = journal
        self._leases = leases
        self._checks = checks
        self._due = due
        self._margin = 2 * client_timeout

    async def add(self, tenant: str) -> None:
        """Schedule a check of a tenant that is about to be written, some minutes later."""
        await self._checks.written(tenant, datetime.now(UTC))

    async def check_next(self, now: datetime) -> str | None:
        """Check a tenant that was written since its last check, and repair it; return which, or None if there is none.

        Raises:
            StoreUnavailable: A store does not answer; the tenant is checked later.
            LeaseLost: Another writer holds the tenant; it is checked later.
        """
        tenant = await self._checks.claim(now)
        if tenant is not None:
            missing = await self._longterm.unsearchable(tenant)
            try:
                repaired = await self.repair(tenant, missing or await self._checks.unfinished(tenant))
            except EntryUnreadable as problem:
                _log.error("not repaired", tenant=tenant, problem=str(problem))
                raise
            await self._checks.done(tenant, now)
            if repaired:
                _log.warning("repaired entries that no search by meaning found", tenant=tenant, entries=repaired)
        return tenant

    async def repair(self, tenant: str, ids: Sequence[str]) -> int:
        """Make those of the given entries searchable that are stored but that no search by meaning finds.

        What the store would refuse by now stays as it is.

        Returns:
            How many there were.

        Raises:
            LeaseLost: Another writer holds the tenant.
            StoreUnavailable: A store or the model does not answer, or the search still does not find them.
        """
        repaired = 0
        for chunk in (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE)):
            async with self._leases.hold(tenant) as lease:
                await self.resume(tenant, lease)
                missing = _not_in(chunk, await self._longterm.searchable(tenant, chunk))
                stored = await self._longterm.stored(tenant, missing)
                if not stored:
                    continue
                refused = await self._rewrite(tenant, lease, list(stored.values()))
                rewritten = [one for one in stored if one not in refused]
                still = _not_in(rewritten, await self._longterm.searchable(tenant, rewritten))
            if still:
                raise StoreUnavailable("weaviate", f"no search by meaning finds {counted(len(still), 'stored entry')}")
            repaired += len(rewritten)
        return repaired

    async def whole(self, tenant: str, lease: Lease, ids: Sequence[str]) -> dict[str, Entry]:
        """Return those of the given entries that are stored; what the filter by id does not find is written anew.

        A writer decides from this, under its own lease. It would take an entry that an index has lost for a new one,
        and write over it, or call it purged while it is stored.

        Raises:
            LeaseLost: Too little of the lease is left.
            StoreUnavailable: A store or the model does not answer.
        """
        found = await self._longterm.get(tenant, ids)
        unindexed = list((await self._longterm.stored(tenant, _not_in(ids, found))).values())
        for start in range(0, len(unindexed), _AT_ONCE):
            await self._rewrite(tenant, lease, unindexed[start : start + _AT_ONCE])
        if unindexed:
            _log.warning("repaired entries that no filter found", tenant=tenant, entries=len(unindexed))
        return found | {entry.id: entry for entry in unindexed}

    async def resume(self, tenant: str, lease: Lease) -> None:
        """Restore what a rewrite deleted before its process died, at the same versions.

        Every writer calls this first, under its own lease: otherwise it would take a missing entry for a new one. What
        the store has come to refuse stays in the journal, from which a reconciliation writes it once it can.
        """
        if not lease.rewriting:
            return
        ids = await self._checks.unfinished(tenant)
        gone = set(ids) - (await self._longterm.stored(tenant, ids)).keys()
        # What was purged since has left the journal too, and stays away.
        lines = await self._journal.read(tenant, naming=of_kind(Rewriting)) if gone else []
        entries = {line.entry.id: line.entry for line in lines if isinstance(line, Rewriting) and line.entry.id in gone}
        if entries:
            await self._checks.written(tenant, datetime.now(UTC))
            await self.write(tenant, lease, list(entries.values()))
        await self._checks.end_rewrite(tenant, ids)

    async def embedded(self, entries: Sequence[Entry]) -> dict[str, Vector]:
        """Return the vectors of what entries are found by, for ``write``: before the lease, as a model may be slow.

        Raises:
            StoreUnavailable: The model does not answer.
        """
        texts = sorted({headline_of(entry.text) for entry in entries})
        return dict(zip(texts, await self._embedder.embed(texts), strict=True)) if texts else {}

    async def write(
        self, tenant: str, lease: Lease, entries: Sequence[Entry], embedded: Mapping[str, Vector] | None = None
    ) -> set[str]:
        """Write entries as they are, at their versions, with vectors that are computed anew.

        Args:
            tenant: Whose.
            lease: The tenant's.
            entries: What is written.
            embedded: From ``embedded``, for the texts that were known before the lease.

        Returns:
            The ids of those that the store refuses for their content: one of them must not hold up the others.

        Raises:
            LeaseLost: Too little of the lease is left.
            StoreUnavailable: Weaviate or the model does not answer.
        """
        return await self._write(tenant, lease, entries, await self._vectors(entries, embedded or {}))

    async def _rewrite(self, tenant: str, lease: Lease, entries: Sequence[Entry]) -> set[str]:
        """Delete entries and write them anew; returns the ids of those that the store refuses: they stay."""
        # This comes first, so that nothing is deleted if the model is away, or if it could not be written again.
        vectors = await self._vectors(entries, {})
        refused = await self._write(tenant, lease, entries, vectors)
        entries = [entry for entry in entries if entry.id not in refused]
        if not entries:
            return refused
        ids = [entry.id for entry in entries]
        await lease.require(self._margin)
        now = datetime.now(UTC)
        await self._journal.append(tenant, [Rewriting(entry=entry, at=now) for entry in entries], epoch=lease.epoch)
        await self._checks.begin_rewrite(tenant, ids, lease)
        await self._checks.written(tenant, now)
        fence = await lease.require(self._margin)
        await self._longterm.delete(tenant, ids, fence=fence)
        reached(CrashPoint.REPAIR_DELETED)
        refused |= await self._write(tenant, lease, entries, vectors)
        await self._checks.end_rewrite(tenant, ids)
        return refused

    async def _write(
        self, tenant: str, lease: Lease, entries: Sequence[Entry], vectors: Mapping[str, Vector]
    ) -> set[str]:
        fence = await lease.require(self._margin)
        if (moment := earliest_due(entries)) is not None:
            # A sweep that did not find them may have removed their date. It comes before the entries: whoever goes on
            # after a crash finds those stored, and does not write them again.
            await self._due.lower(tenant, moment)
        try:
            await self._longterm.put(tenant, entries, vectors, fence=fence)
        except ContentRefused as error:
            why = sorted({*error.reasons.values()})
            _log.warning(
                "weaviate refuses entries that were memory", tenant=tenant, entries=len(error.reasons), why=why
            )
            return {*error.reasons}
        return set()

    async def _vectors(self, entries: Sequence[Entry], embedded: Mapping[str, Vector]) -> dict[str, Vector]:
        missing = await self.embedded([entry for entry in entries if headline_of(entry.text) not in embedded])
        vectors = {**embedded, **missing}
        return {entry.id: vectors[headline_of(entry.text)] for entry in entries}


def _not_in(ids: Sequence[str], found: Mapping[str, object]) -> list[str]:
    return [identifier for identifier in ids if identifier not in found]
