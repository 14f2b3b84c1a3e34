"""The sweep of one tenant on the real stores, in steps that can each be repeated. What to forget is selection's."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime, timedelta

from perdure.crashpoints import CrashPoint, reached
from perdure.errors import VersionConflict
from perdure.memory.door import Door
from perdure.memory.forgetting.selection import Forgetting, Guard, SweepCounts, select
from perdure.memory.retention import RetentionRules
from perdure.memory.writing.contradictions import overtaken, said, suspended, suspensions, verdict
from perdure.model import Passed
from perdure.stores.redis.deletions import Deletions
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.changes import Actor, Change, Deletion, Refusal
from perdure.values.entries import Entry, Memory, State, holds

MOST_AT_ONCE = 200
"""Entries a plan takes: under 40 kB of history, and a few seconds under the tenant's lease."""


_CONFLICTS = 5
"""How often entries may have changed since they were read before their tenant is left to a later pass."""


class Tombstoned(Passed):
    """What a step of a sweep has done: only entries that have left the due set count."""

    forgotten: int = 0
    """Entries that are never recalled from here on."""
    kept: int = 0
    """Entries that are no longer due."""


class Restored(Passed):
    """How far the undoing of a sweep has come for one tenant."""

    restored: int
    """Entries that this undoing has brought back so far."""
    more: bool = False
    """Whether there are more than one call takes."""


class Forgetter:
    """Forgets, purges and restores the memories of one tenant at a time."""

    def __init__(
        self,
        *,
        longterm: LongTerm,
        door: Door,
        deletions: Deletions,
        rules: RetentionRules,
        guard: Guard,
        grace: timedelta,
    ) -> None:
        """Wire the sweep.

        Args:
            longterm: Where the entries are.
            door: The one way to change them.
            deletions: The log that keeps forgotten things forgotten.
            rules: What is forgotten, and when.
            guard: Stops what looks like a mistake.
            grace: How long forgetting can be undone.
        """
        self._longterm = longterm
        self._door = door
        self._deletions = deletions
        self._rules = rules
        self._guard = guard
        self._grace = grace

    async def plan(self, tenant: str, *, at: datetime, approved: bool) -> Forgetting:
        """Choose what is forgotten; changes nothing."""
        due, purgeable = await together(
            self._longterm.due(tenant, before=at, limit=MOST_AT_ONCE),
            self._longterm.purgeable(tenant, before=at, limit=MOST_AT_ONCE),
        )
        stored, to_purge = await together(
            self._longterm.count(tenant), self._longterm.count_purgeable(tenant, before=at)
        )
        counts = SweepCounts(stored=stored, due=await self._longterm.count_due(tenant, before=at), purgeable=to_purge)
        return select(
            tenant,
            due=due,
            purgeable=purgeable,
            counts=counts,
            rules=self._rules,
            guard=self._guard,
            approved=approved,
            at=at,
        )

    async def tombstone(self, forgetting: Forgetting, *, sweep: str, by: Actor) -> Tombstoned:
        """Forget what was chosen: from here on it is never recalled, and can be undone.

        Raises:
            VersionConflict: One of them changed since: plan again. The log's lines on those that stay are undone.
        """
        tenant, at = forgetting.tenant, forgetting.at
        chosen = (*forgetting.tombstone, *forgetting.backdated)
        if not chosen:
            return Tombstoned()
        stored = await self._longterm.get(tenant, [item.id for item in chosen])
        if len(stored) < len(chosen):
            raise VersionConflict("some of the entries are no longer there")
        forgotten = {item.id for item in forgetting.tombstone}
        changes = [
            Change(
                id=item.id,
                expected=item.version,
                entry=stored[item.id].forgotten(item.reason, at + self._grace)
                if item.id in forgotten
                else self._rules.dated(stored[item.id]),
                by=by,
                why=item.reason,
                operation=f"forget:{sweep}",
            )
            for item in chosen
        ]
        deletions = [
            Deletion.of(stored[item.id], at=at, reason=item.reason, sweep=sweep) for item in forgetting.tombstone
        ]
        await self._door.change(tenant, changes, deletions=deletions)
        reached(CrashPoint.FORGET_TOMBSTONED)
        kept = [self._rules.date(stored[item.id])[0] for item in forgetting.backdated]
        return Tombstoned(forgotten=len(forgotten), kept=sum(date is None or date > at for date in kept))

    async def purge(self, forgetting: Forgetting, *, sweep: str, by: Actor) -> int:
        """Remove for good what was forgotten long enough ago, if it is still as the plan saw it."""
        if not forgetting.purge:
            return 0
        gone = await self._door.remove(
            forgetting.tenant,
            {item.id: item.version for item in forgetting.purge},
            at=forgetting.at,
            operation=f"purge:{sweep}",
            by=by,
            why="forgotten, and can no longer be undone",
        )
        return len(gone)

    async def finish(self, tenant: str) -> None:
        """Set the tenant's next due date, now that what was due is gone."""
        await self._door.reindex(tenant)

    @property
    def rules_version(self) -> str:
        """The version of the rules that this process forgets by."""
        return self._rules.version

    async def redate(self, tenant: str, *, operation: str, by: Actor) -> int:
        """Date by today's rules a tenant's entries that were dated by others; return how many.

        Raises:
            VersionConflict: The tenant's memory changes all the time.
        """
        done = set[str]()
        conflicts = 0
        while True:
            found = await self._longterm.dated_otherwise(tenant, rules_version=self._rules.version, limit=MOST_AT_ONCE)
            entries = [entry for entry in found if entry.id not in done]
            if not entries:
                break
            changes = [
                Change(
                    id=entry.id,
                    expected=entry.version,
                    entry=self._rules.dated(entry),
                    by=by,
                    why="the rules changed",
                    operation=operation,
                )
                for entry in entries
            ]
            try:
                await self._door.change(tenant, changes)
            except VersionConflict:
                conflicts += 1
                if conflicts == _CONFLICTS:
                    raise
                continue
            done |= {entry.id for entry in entries}
        if done:
            await self._door.reindex(tenant)
        return len(done)

    async def restore(self, tenant: str, *, sweep: str, at: datetime, by: Actor) -> Restored:
        """Undo what a sweep forgot, as far as it is not purged and as much as one call takes.

        Args:
            tenant: Whose.
            sweep: The sweep, or the removal, that forgot it.
            at: When it is undone: one moment for all calls of one undoing.
            by: Who undoes it.
        """
        undoable = [line for line in await self._deletions.all(tenant) if line.sweep == sweep and not line.purged]
        restored = sum(line.restored_at == at for line in undoable)
        forgotten = [line for line in undoable if line.restored_at is None]
        chosen = forgotten[:MOST_AT_ONCE]
        if not chosen:
            return Restored(restored=restored)
        stored = await self._stored(tenant, [line.id for line in chosen])
        # Purged entries cannot be restored: their lines say so from now on.
        lines = [line.changed(restored_at=at) if line.id in stored else line.changed(purged=True) for line in chosen]
        operation = f"restore:{sweep}"
        on_request = {line.id for line in chosen if line.on_request}

        async def planned() -> tuple[Sequence[Change], Sequence[Refusal]]:
            # Only a plan under the lease sees what contradicts one of them and was said just now.
            stored = await self._stored(tenant, [line.id for line in chosen])
            if any(line.purged == (line.id in stored) for line in lines):
                raise VersionConflict("some of the entries are no longer there")
            changed = await self._restored(tenant, stored, at=at, on_request=on_request)
            if any(operation in entry.operations for entry in stored.values()):
                # What an earlier attempt has changed beside them is still to be settled and audited.
                begun = await self._door.begun(tenant, operation) - {before.id for before, _ in changed}
                written = await self._stored(tenant, sorted(begun))
                changed += [(one, one) for one in written.values() if operation in one.operations]
            return [
                Change(
                    id=before.id,
                    expected=before.version,
                    entry=after,
                    by=by,
                    why=f"what {sweep} forgot was restored",
                    operation=operation,
                )
                for before, after in changed
            ], ()

        await self._door.change(tenant, (), deletions=lines, operation=operation, again=planned)
        return Restored(restored=restored + len(stored), more=len(forgotten) > len(chosen))

    async def _stored(self, tenant: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that are there, whether or not the index of ids has them: what it lacks is not purged."""
        found = await self._longterm.get(tenant, ids)
        return found | await self._longterm.stored(tenant, [one for one in ids if one not in found])

    async def _restored(
        self, tenant: str, stored: Mapping[str, Entry], *, at: datetime, on_request: Set[str]
    ) -> list[tuple[Entry, Entry]]:
        """Return each entry that an undoing changes, before and after.

        What was said since holds: a memory that it contradicts comes back as replaced by it.
        """
        # Those that are not forgotten any more are restored already; only their lines may be missing.
        back = {
            entry.id: self._rules.restored(entry, at, on_request=entry.id in on_request)
            if entry.state is State.FORGOTTEN
            else entry
            for entry in stored.values()
        }
        changed = [one for one in back.values() if isinstance(one, Memory) and one != stored[one.id]]
        again = [one for one in changed if holds(one, max(at, one.valid_from or at))]
        terms = {term for one in again if one.assertion for term in one.assertion.about}
        beside = await self._longterm.about(tenant, terms, {one.text for one in again})
        known = {one.id: one for one in beside if one.id not in back}
        before: dict[str, Entry] = {**stored, **known}
        for memory in again:
            found = verdict(item := said(memory), memory.id, known.values())
            if found.stands:
                back[memory.id] = memory.superseded(found.stands.id, at, contradicted=True)
            else:
                back[memory.id] = suspended(memory, suspensions(found.under), at)
                overruled = {one.id: overtaken(one, item, memory.id, at) for one in found.over}
                known |= overruled
                back |= overruled
        return [(before[identifier], after) for identifier, after in back.items()]
