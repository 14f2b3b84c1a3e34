"""Exactly-once writes to long-term memory: under a lease, at an expected version, recognised by an operation id.

Every change is journaled before it is written and settled after it, so the journal can answer for a store that is
away, and show who changed what and why. What is only counted (``Door.count``) is not: the journal has no line for it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import StoreUnavailable, VersionConflict
from perdure.memory.audit.audit import Audit
from perdure.memory.change_log import ChangeLog
from perdure.memory.comparison import (
    Again,
    Check,
    Compared,
    compared,
    in_rounds,
    nothing_more,
    observed_anew,
    purgeable,
    reasons,
)
from perdure.memory.heirs import with_parts
from perdure.memory.repair import Repair
from perdure.memory.retention import RetentionRules, earliest_due
from perdure.memory.wholeness import Wholeness
from perdure.plurals import counted
from perdure.refusals import ContentRefused
from perdure.stores.journal.lines import Changed, Settled
from perdure.stores.journal.log import Journal
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.leases import Lease, Leases
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.changes import Actor, Change, Deletion, Refusal
from perdure.values.entries import Entry, State

_CHUNK = 50
"""Objects in a write call; the lease is checked again before each call."""


class Door:
    """Makes, logs and journals every change of long-term memory; only repair and reconciling restore past it."""

    def __init__(
        self,
        *,
        longterm: LongTerm,
        journal: Journal,
        deletions: Deletions,
        leases: Leases,
        due: DueIndex,
        repair: Repair,
        whole: Wholeness,
        rules: RetentionRules,
        client_timeout: float,
        audit: Audit,
    ) -> None:
        """Wire the door.

        Args:
            longterm: The store.
            journal: Where every change is written first.
            deletions: The log that keeps forgotten things forgotten.
            leases: One writer a tenant.
            due: Where the next due date of a tenant is kept.
            repair: Restores what a repair that died has deleted, before anything is read.
            whole: Refuses to write to a store that lost data, and counts what is written.
            rules: What dates the entries.
            client_timeout: The longest that one call to the store may take, in seconds. A write starts
                only while the lease has twice that to live.
            audit: Records every change before it is acknowledged.
        """
        self._longterm = longterm
        self._journal = journal
        self._deletions = deletions
        self._log = ChangeLog(journal, deletions)
        self._leases = leases
        self._due = due
        self._repair = repair
        self._whole = whole
        self._rules = rules
        self._margin = 2 * client_timeout
        self._audit = audit

    async def require(self) -> None:
        """Check that no store lost data, so that what was just read of them can be decided from.

        Raises:
            StoreLost: One did.
            StoreUnavailable: One does not answer.
        """
        await self._whole.require()

    async def epoch(self, tenant: str) -> int:
        """Return the tenant's epoch, for a change that is accepted now."""
        return await self._leases.epoch(tenant)

    async def change(
        self,
        tenant: str,
        changes: Sequence[Change],
        *,
        epoch: int | None = None,
        deletions: Sequence[Deletion] = (),
        refused: Sequence[Refusal] = (),
        operation: str = "",
        check: Check = nothing_more,
        again: Again | None = None,
    ) -> dict[str, int]:
        """Make the changes of one operation, once, however often this is called with them.

        Args:
            tenant: Whose memories.
            changes: Those that are equal to what is stored are only checked. There may be none where the entries
                that ``deletions`` speaks of are no longer stored.
            epoch: The tenant's epoch when the changes were accepted; None: they are accepted now.
            deletions: Lines of the deletion log that belong to the changes. Those that forget are written before
                the entries, those that restore or are over after them.
            refused: The items of the operation's batch that change nothing; their text leaves the journal.
            operation: The operation's id; empty: the changes'.
            check: Called under the lease, before the entries are read.
            again: Called under the lease where another writer changed one of the entries since they were read,
                where ``check`` objects, or where there are no changes: what it returns is made instead.

        Returns:
            The version of each id afterwards.

        Raises:
            TenantErased: The tenant was erased after the changes were accepted.
            VersionConflict: Another writer changed one of the entries, and there is no ``again``: plan again.
            ContentRefused: The store refuses some of them. As above, ``deletions`` of entries that stay are undone.
            LeaseLost: The lease ran out; what is already written stays and will be recognised.
            StoreUnavailable: Weaviate, Redis or the journal does not answer, or has lost data; or the audit cannot be
                written.
        """
        operation = operation or (changes[0].operation if changes else "")
        forgetting = [line for line in deletions if line.restored_at is None and not line.purged]
        restoring = [line for line in deletions if line not in forgetting]
        await self._audit.ready()
        async with self._leases.hold(tenant, epoch=epoch) as lease, self._whole.writing():
            reached(CrashPoint.APPLY_LEASED)
            await self._repair.resume(tenant, lease)
            try:
                refused, compared = await self._planned(tenant, lease, changes, refused, check=check, again=again)
                stored, pending, made, unfinished = compared
                written = [self._stamped(change, stored.get(change.id)) for change in pending]
                await lease.require(self._margin)
                await self._log.announce(tenant, lease, pending, written, forgetting)
                await self._write(tenant, lease, pending, written)
            except (VersionConflict, ContentRefused):
                stays = await self._longterm.get(tenant, [line.id for line in forgetting])
                await self._log.withdraw(tenant, lease, forgetting, stays)
                raise
            reached(CrashPoint.APPLY_WRITTEN)
            await self._index(tenant, [*stored.values(), *written])
            versions = {entry.id: entry.version for entry in (*stored.values(), *written)}
            # What was written although a sweep had logged it is not forgotten.
            now = datetime.now(UTC)
            restoring += [line.changed(restored_at=now) for line in unfinished]
            await self._log.settle(tenant, lease, operation, versions, refused=refused, deletions=restoring)
            # Also what an earlier attempt wrote, which may have died before it said so, or after.
            for by, ids in reasons(made).items():
                await self._audit.changed(tenant, ids, operation=operation, by=by, again=not pending)
            reached(CrashPoint.CHANGE_AUDITED)
        return versions

    async def refuse(self, tenant: str, operation: str, refused: Sequence[Refusal], *, epoch: int | None) -> None:
        """Settle an operation none of whose items becomes memory; their text leaves the journal.

        Raises:
            TenantErased: The tenant was erased after this epoch: the text is gone.
            StoreUnavailable: The journal cannot be written.
        """
        await self._log.refuse(tenant, operation, refused, epoch)

    async def audited(self, tenant: str, ids: Mapping[str, Sequence[str]], *, operation: str, by: Actor) -> None:
        """Audit a settled operation, unless it was audited already.

        Raises:
            StoreUnavailable: The audit cannot be written.
        """
        await self._audit.changed(tenant, ids, operation=operation, by=by, again=True)

    async def begun(self, tenant: str, operation: str) -> set[str]:
        """Return the ids of the entries that earlier attempts at an operation were about to write."""
        lines = await self._journal.read(tenant, naming=[operation])
        return {line.entry.id for line in lines if isinstance(line, Changed) and line.operation == operation}

    async def redact_settled(self, tenant: str, job: str) -> None:
        """Erase a settled job's items from the journal, if its batch was accepted once more: nothing needs them."""
        lines = await self._journal.read(tenant, naming=[job])
        if any(isinstance(line, Settled) and line.operation == job for line in lines):
            await self._journal.redact(tenant, job)

    async def remove(
        self, tenant: str, expected: Mapping[str, int], *, at: datetime, operation: str, by: Actor, why: str
    ) -> list[str]:
        """Remove for good what is still forgotten at its expected version: from the store first, then from the journal.

        Args:
            tenant: Whose.
            expected: The version of each entry when it was chosen.
            at: The moment up to which their time to be restored has to be over.
            operation: The id of the purge.
            by: Who purges.
            why: The reason.

        Returns:
            The ids that are gone now; one that changed since it was read stays.

        Raises:
            LeaseLost: The lease ran out; what is removed is removed.
            StoreUnavailable: Weaviate, Redis or the journal does not answer; call it again.
        """
        await self._audit.ready()
        async with self._leases.hold(tenant) as lease, self._whole.writing():
            await self._repair.resume(tenant, lease)
            stored = await self._repair.whole(tenant, lease, list(expected))
            gone = purgeable(expected, stored, at)
            deletions = await self._deletions.of(tenant, gone)
            # This comes first, so that nobody restores what a crash has left half removed.
            await self._log.write(tenant, lease, [line.changed(purged=True) for line in deletions.values()])
            fence = await lease.require(self._margin)
            await self._longterm.delete(tenant, [one for one in gone if one in stored], fence=fence)
            reached(CrashPoint.FORGET_PURGED)
            if left := await self._longterm.stored(tenant, gone):
                raise StoreUnavailable("weaviate", f"{counted(len(left), 'deleted entry')} still stored")
            await lease.require(self._margin)
            wordings = [one for line in deletions.values() for one in line.wordings]
            spared = partial(observed_anew, tenant, deletions=deletions)
            await self._journal.drop(tenant, gone, wordings=wordings, spared=spared)
            if gone:
                again = not stored.keys() >= {*gone}
                await self._audit.changed(tenant, {why: gone}, operation=operation, by=by, again=again)
        return gone

    async def count(
        self,
        tenant: str,
        ids: Sequence[str],
        counted: Callable[[Entry, Sequence[str]], Entry],
        *,
        operation: str,
        by: Actor | None = None,
        why: str = "",
    ) -> int:
        """Write counts of entries, once for each operation; versions stay, so that no plan has to be made again.

        The journal gets no line for it, so what was counted since an entry last changed is lost with the store.

        Args:
            tenant: Whose.
            ids: The entries; what was merged since counts for the whole, and what is forgotten, or not there, not.
            counted: Returns an entry with one more counted, given which of the ids it stands for.
            operation: The operation's id.
            by: Who has it counted; None: it is not audited.
            why: The reason.

        Returns:
            How many entries were written.

        Raises:
            LeaseLost: Another writer holds the tenant.
            StoreUnavailable: A store does not answer, or the audit cannot be written.
        """
        if by is not None:
            await self._audit.ready()
        async with self._leases.hold(tenant) as lease, self._whole.writing():
            await self._repair.resume(tenant, lease)
            stands = await with_parts(ids, partial(self._repair.whole, tenant, lease))
            counts = [(entry, counted(entry, parts)) for entry, parts in stands if entry.state is not State.FORGOTTEN]
            new = [after for before, after in counts if operation not in before.operations and after != before]
            written = [self._rules.dated(one.stamped(one.version, operation)) for one in new]
            await self._write(tenant, lease, (), written)
            # Also what an earlier attempt wrote, which may have died before it said so.
            done = [*written, *(one for one, _ in counts if operation in one.operations)]
            # They are dated by today's rules, so that no redating finds them any more.
            await self._index(tenant, done)
            if by is not None and done:
                told, again = sorted(one.id for one in done), len(done) > len(written)
                await self._audit.changed(tenant, {why: told}, operation=operation, by=by, again=again)
        return len(written)

    async def reindex(self, tenant: str) -> None:
        """Set the tenant's next due date to what its memories say, and compact its journal if that is worth it.

        Raises:
            LeaseLost: The lease ran out; nothing is set.
        """
        await self._whole.require()
        async with self._leases.hold(tenant) as lease:
            moment = await self._longterm.next_due(tenant)
            # A process that slept past its lease would erase what another writer has made due since.
            await lease.require(self._margin)
            await self._due.set(tenant, moment)
        await self._journal.compact(tenant, now=datetime.now(UTC))

    async def _planned(
        self,
        tenant: str,
        lease: Lease,
        changes: Sequence[Change],
        refused: Sequence[Refusal],
        *,
        check: Check,
        again: Again | None,
    ) -> tuple[Sequence[Refusal], Compared]:
        """Compare the changes with what is stored; plan them again if they do not fit.

        Raises:
            VersionConflict: They do not fit, and there is no way to plan them again.
        """
        try:
            if changes or again is None:
                await check()
                return refused, await self._compared(tenant, lease, changes)
        except VersionConflict:
            if again is None:
                raise
        changes, refused = await again()
        return refused, await self._compared(tenant, lease, changes)

    async def _compared(self, tenant: str, lease: Lease, changes: Sequence[Change]) -> Compared:
        ids = [change.id for change in changes]
        known, gone = self._repair.whole(tenant, lease, ids), self._deletions.covering(tenant, ids)
        return compared(changes, *await together(known, gone))

    def _stamped(self, change: Change, stored: Entry | None) -> Entry:
        entry = change.entry.counted_as(stored) if stored else change.entry
        stamped = entry.stamped(change.expected + 1, change.operation)
        return stamped if stamped.state is State.FORGOTTEN else self._rules.dated(stamped)

    async def _write(self, tenant: str, lease: Lease, changes: Sequence[Change], written: Sequence[Entry]) -> None:
        vectors = {change.id: change.vector for change in changes if change.vector is not None}
        if written:
            await self._repair.add(tenant)
        parts = in_rounds(changes, written)
        for chunk in (part[start : start + _CHUNK] for part in parts for start in range(0, len(part), _CHUNK)):
            fence = await lease.require(self._margin)
            await self._longterm.put(tenant, chunk, vectors, fence=fence)
            reached(CrashPoint.APPLY_HALF_WRITTEN)

    async def _index(self, tenant: str, entries: Sequence[Entry]) -> None:
        if (moment := earliest_due(entries)) is not None:
            await self._due.lower(tenant, moment)
