"""Rebuilds one tenant's share of a store that lost data, in steps that can each be repeated.

What the store has, what the journal says was written and the deletion log are merged; an entry keeps its version and
its operations, so that a job that is repeated is recognised.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from perdure.errors import StoreUnavailable, TenantErased
from perdure.memory.audit.audit import Audit
from perdure.memory.comparison import observed_anew
from perdure.memory.consent_book import consents_of
from perdure.memory.membership import MemberBook
from perdure.memory.reconciliation.merge import Merged, logged, merge
from perdure.memory.repair import Repair
from perdure.models.embedding import Vector
from perdure.stores.journal.folded_state import fold
from perdure.stores.journal.lines import Accepted, Changed, Consented, Forgotten, Line, Settled, of_kind
from perdure.stores.journal.log import Journal
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.leases import Lease, Leases
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.changes import Actor, Deletion
from perdure.values.changes import latest as latest_deletions
from perdure.values.consents import latest
from perdure.values.entries import Entry
from perdure.values.losses import Store
from perdure.values.requests import Reconciled

_AT_ONCE = 50
"""Entries that are written under one lease, as the repair does."""


_WHY = "reconciled"
_PURGED = "purged again"


class _Work(NamedTuple):
    """Which reconciliation, who asked for it, and the tenant's epoch before anything was read."""

    operation: str
    by: Actor
    epoch: int


class _Share(NamedTuple):
    """The entries that are merged under one lease."""

    ids: Sequence[str]
    local: Mapping[str, Entry]
    """Those that the journal has."""
    vectors: Mapping[str, Vector]
    """Of the texts that the store lacks: nobody is to wait for a slow model."""


class Merging(NamedTuple):
    """The result for a tenant, and what its journal lists as still to be done."""

    found: Reconciled
    pending: tuple[Accepted, ...]
    """Items whose jobs were not done when the journal was read, oldest first."""


class Reconciler:
    """Makes a tenant's share of the three stores agree."""

    def __init__(
        self,
        *,
        longterm: LongTerm,
        journal: Journal,
        deletions: Deletions,
        consents: RedisConsents,
        members: MemberBook,
        leases: Leases,
        due: DueIndex,
        repair: Repair,
        grace: timedelta,
        client_timeout: float,
        audit: Audit,
    ) -> None:
        """Wire the reconciler.

        Args:
            longterm: Where the entries are.
            journal: What was written.
            deletions: What was forgotten.
            consents: What users consent to.
            members: Who belongs to a team or an agent.
            leases: One writer a tenant.
            due: Each tenant's next due date.
            repair: Writes entries as they are, and has the tenant's vectors checked afterwards.
            grace: How long forgetting can be undone.
            client_timeout: As for the door.
            audit: Records every change.
        """
        self._longterm = longterm
        self._journal = journal
        self._deletions = deletions
        self._consents = consents
        self._members = members
        self._leases = leases
        self._due = due
        self._repair = repair
        self._grace = grace
        self._margin = 2 * client_timeout
        self._audit = audit

    async def reconcile(self, tenant: str, *, operation: str, by: Actor, check: bool = False) -> Merging:
        """Reconcile one tenant; start again if it is erased meanwhile, so that nothing read before comes back.

        Args:
            tenant: Whose memories.
            operation: The id of the reconciliation.
            by: Who asked for it.
            check: Whether the search has to check what it finds as well, as Redis has lost the list of such tenants.

        Raises:
            LeaseLost: Another writer holds the tenant; call it again.
            StoreUnavailable: A store or the model does not answer; call it again.
        """
        if check:
            await self._repair.add(tenant)
        while True:
            work = _Work(operation, by, await self._leases.epoch(tenant))
            try:
                return await self._reconciled(tenant, work)
            except TenantErased as error:
                if await self._leases.epoch(tenant) == work.epoch:
                    raise StoreUnavailable(Store.REDIS, "does not know yet that the user was erased") from error

    async def _reconciled(self, tenant: str, work: _Work) -> Merging:
        lines = await self._journal.read(tenant)
        log, remote = await together(self._deletions.all(tenant), self._longterm.everything(tenant))
        folded = await asyncio.to_thread(fold, lines)
        known = {line.id: line for line in log}
        entries = {**folded.entries, **remote}
        deletions = logged(entries, known, folded.deletions, at=datetime.now(UTC))
        restored = await self._log(tenant, work.epoch, deletions, known, folded.deletions)
        await self._agree_on_consents(tenant, work.epoch, lines)
        await self._members.agree(tenant, lines)
        merged = merge(remote, folded.entries, deletions, self._grace)
        changed = sorted({entry.id for entry in (*merged.write, *merged.journal)} | set(merged.purge))
        lacking = {entry.id: entry for entry in merged.write}
        result = Reconciled(tenants=1, origins={place.value: number for place, number in merged.origins.items()})
        for ids in (changed[start : start + _AT_ONCE] for start in range(0, len(changed), _AT_ONCE)):
            local = {identifier: folded.entries[identifier] for identifier in ids if identifier in folded.entries}
            vectors = await self._repair.embedded([lacking[identifier] for identifier in ids if identifier in lacking])
            result = result.plus(await self._apply(tenant, _Share(ids, local, vectors), deletions, work))
        async with self._leases.hold(tenant, epoch=work.epoch) as lease:
            moment = await self._longterm.next_due(tenant)
            await lease.require(self._margin)
            await self._due.set(tenant, moment)
        return Merging(result.plus(Reconciled(deletions=restored)), folded.pending)

    async def _agree_on_consents(self, tenant: str, epoch: int, lines: Sequence[Line]) -> None:
        """Write the latest statement about each purpose to Redis and the journal."""
        if await self._consents.of(tenant) == consents_of(lines):
            return
        async with self._leases.hold(tenant, epoch=epoch) as lease:
            # There may be newer statements meanwhile.
            said = await self._journal.read(tenant, naming=of_kind(Consented))
            journaled, known = consents_of(said), await self._consents.of(tenant)
            last = latest((*known.values(), *journaled.values()))
            missing = [one for purpose, one in last.items() if journaled.get(purpose) != one]
            await lease.require(self._margin)
            await self._journal.append(tenant, [Consented(consent=one) for one in missing], epoch=epoch)
            lost = [one for purpose, one in last.items() if known.get(purpose) != one]
            await self._consents.write(tenant, lost, lease)

    async def _log(
        self,
        tenant: str,
        epoch: int,
        deletions: Mapping[str, Deletion],
        known: Mapping[str, Deletion],
        journaled: Mapping[str, Deletion],
    ) -> int:
        """Complete both copies of the deletion log; returns how many lines one of them lacked."""
        differ = {
            identifier
            for identifier, line in deletions.items()
            if not journaled.get(identifier) == line == known.get(identifier)
        }
        if not differ:
            return 0
        async with self._leases.hold(tenant, epoch=epoch) as lease:
            # Another writer may have forgotten, or undone it, since both were read.
            lines, known = await together(
                self._journal.read(tenant, naming=of_kind(Forgotten)), self._deletions.of(tenant, sorted(differ))
            )
            journaled = (await asyncio.to_thread(fold, lines)).deletions
            last = latest_deletions(deletions, (*journaled.values(), *known.values()))
            missing = [last[identifier] for identifier in differ if journaled.get(identifier) != last[identifier]]
            lost = [last[identifier] for identifier in differ if known.get(identifier) != last[identifier]]
            await lease.require(self._margin)
            await self._journal.append(tenant, [Forgotten(deletion=line) for line in missing], epoch=epoch)
            await lease.require(self._margin)
            await self._deletions.write(tenant, lost, lease)
        return len({line.id for line in (*missing, *lost)})

    async def _apply(self, tenant: str, share: _Share, log: Mapping[str, Deletion], work: _Work) -> Reconciled:
        ids, local = share.ids, share.local
        async with self._leases.hold(tenant, epoch=work.epoch) as lease:
            await self._repair.resume(tenant, lease)
            # Where nothing was lost, others go on writing: what counts is what is there under the lease.
            stored, now = await together(self._repair.whole(tenant, lease, ids), self._deletions.of(tenant, ids))
            deletions = {**log, **now}
            merged = merge(stored, local, deletions, self._grace)
            if merged.journal:
                # Others may have journaled since it was read; their lines on who and why must not be repeated.
                folded = await asyncio.to_thread(fold, await self._journal.read(tenant))
                local = {identifier: folded.entries[identifier] for identifier in ids if identifier in folded.entries}
                merged = merge(stored, local, deletions, self._grace)
            written, purged = [entry.id for entry in (*merged.write, *merged.journal)], list(merged.purge)
            changed = {why: ids for why, ids in ((_WHY, written), (_PURGED, purged)) if ids}
            if changed:
                # First: a second attempt no longer finds what this one writes.
                await self._audit.changed(tenant, changed, operation=work.operation, by=work.by)
            refused = await self._write(tenant, lease, merged, share.vectors, work)
            fence = await lease.require(self._margin)
            await self._longterm.delete(tenant, merged.purge, fence=fence)
            gone = {one: deletions[one] for one in merged.purge if one in deletions}
            wordings = [one for line in gone.values() for one in line.wordings]
            spared = partial(observed_anew, tenant, deletions=gone)
            await self._journal.drop(tenant, merged.purge, wordings=wordings, spared=spared)
        return Reconciled(
            written=len(merged.write) - len(refused), journaled=len(merged.journal), purged=len(merged.purge)
        )

    async def _write(
        self, tenant: str, lease: Lease, merged: Merged, vectors: Mapping[str, Vector], work: _Work
    ) -> set[str]:
        """Write what the journal lacks to the journal, and what the store lacks to the store.

        Returns:
            The ids of those that the store refuses for their content; the journal has them.
        """
        at, operation = datetime.now(UTC), work.operation
        changed = [Changed(entry=entry, operation=operation, by=work.by, why=_WHY, at=at) for entry in merged.journal]
        await lease.require(self._margin)
        await self._journal.append(tenant, changed, epoch=work.epoch)
        refused: set[str] = set()
        if merged.write:
            await self._repair.add(tenant)
            refused = await self._repair.write(tenant, lease, merged.write, vectors)
        versions = {entry.id: entry.version for entry in merged.journal}
        if versions:
            settled = Settled(operation=operation, versions=versions, at=at)
            await self._journal.append(tenant, [settled], epoch=work.epoch)
        return refused
