"""The sweep of one tenant on the real stores, in steps that can each be repeated. What to forget is selection's."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from perdure.changes import Deletion
from perdure.crashpoints import CrashPoint, reached
from perdure.entries import Memory, Record, State
from perdure.errors import VersionConflict
from perdure.memory.door import Door
from perdure.memory.forgetting.selection import Counts, Forgetting, Guard, select
from perdure.memory.retention import RetentionRules
from perdure.model import Passed
from perdure.stores.journal.lines import DeletionLine, RestorationLine
from perdure.stores.journal.log import Mirror
from perdure.stores.redis.deletions import Deletions
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together

MOST_AT_ONCE = 200
"""Entries a plan takes: under 40 kB of history, and a few seconds under the tenant's lease."""


class Restored(Passed):
    """How far the undoing of a run has come for one tenant."""

    restored: int
    """Entries that this undoing has brought back so far."""
    more: bool = False
    """There are more than one call takes."""


class Forgetter:
    """Forgets, purges and restores the memories of one tenant at a time."""

    def __init__(
        self,
        *,
        longterm: LongTerm,
        door: Door,
        deletions: Deletions,
        mirror: Mirror,
        rules: RetentionRules,
        guard: Guard,
        grace: timedelta,
    ) -> None:
        """Wire the sweep.

        Args:
            longterm: Where the entries are.
            door: The one way to change them.
            deletions: The log that keeps forgotten things forgotten.
            mirror: It learns of a deletion before anything else does.
            rules: What is let go, and when.
            guard: Stops what looks like a mistake.
            grace: How long forgetting can be undone.
        """
        self._longterm = longterm
        self._door = door
        self._deletions = deletions
        self._mirror = mirror
        self._rules = rules
        self._guard = guard
        self._grace = grace

    async def plan(self, tenant: str, *, at: datetime, approved: bool) -> Forgetting:
        """Choose what is let go; changes nothing."""
        due, purgeable = await together(
            self._longterm.due(tenant, before=at, limit=MOST_AT_ONCE),
            self._longterm.purgeable(tenant, before=at, limit=MOST_AT_ONCE),
        )
        stored, to_purge = await together(
            self._longterm.count(tenant), self._longterm.count_purgeable(tenant, before=at)
        )
        counts = Counts(stored=stored, due=await self._longterm.count_due(tenant, before=at), purgeable=to_purge)
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

    async def tombstone(self, forgetting: Forgetting, *, run: str) -> int:
        """Forget what was chosen: from here on it is never recalled, and can be undone.

        Raises:
            VersionConflict: One of them changed since: plan again. What was logged of those that stay is taken back.
        """
        letting = {item.id: item for item in (*forgetting.tombstone, *forgetting.backdated)}
        if not letting:
            return 0
        reasons = {item.id: item.reason for item in forgetting.tombstone}
        await self._log(forgetting, run=run)
        reached(CrashPoint.FORGET_LOGGED)

        def edit(identifier: str, stored: Record | Memory | None) -> Record | Memory:
            if stored is None:
                raise AssertionError(f"{identifier} was planned at a version, so it exists")
            if identifier not in reasons:
                return stored.changed(rules_version="")
            return stored.changed(
                state=State.FORGOTTEN, forget_reason=reasons[identifier], purge_after=forgetting.at + self._grace
            )

        expected = {identifier: item.version for identifier, item in letting.items()}
        try:
            await self._door.change(
                forgetting.tenant, operation=f"forget:{run}", expected=expected, edit=edit, vectors={}
            )
        except VersionConflict:
            await self._take_back(forgetting, run=run)
            raise
        reached(CrashPoint.FORGET_TOMBSTONED)
        return len(reasons)

    async def purge(self, forgetting: Forgetting) -> int:
        """Remove for good what was forgotten long enough ago, if it is still as the plan saw it."""
        if not forgetting.purge:
            return 0
        tenant, ids = forgetting.tenant, [item.id for item in forgetting.purge]
        lines = list((await self._deletions.of(tenant, ids)).values())
        await self._mirrored(tenant, lines)
        reached(CrashPoint.FORGET_LOGGED)
        gone = await self._door.remove(tenant, expected={item.id: item.version for item in forgetting.purge})
        reached(CrashPoint.FORGET_PURGED)
        await self._deletions.write(tenant, [line.changed(purged=True) for line in lines if line.id in gone])
        return len(gone)

    async def finish(self, tenant: str) -> None:
        """Set the tenant's next due date, now that what was due is gone."""
        await self._door.reindex(tenant)

    async def restore(self, tenant: str, *, run: str, at: datetime) -> Restored:
        """Undo what a run forgot, as far as it is not purged and as much as one call takes.

        Args:
            tenant: Whose.
            run: The forgetting run.
            at: When it is undone: one moment for all calls of one undoing.
        """
        undoable = [line for line in await self._deletions.all(tenant) if line.run == run and not line.purged]
        restored = sum(line.restored_at == at for line in undoable)
        forgotten = [line for line in undoable if line.restored_at is None]
        lines = forgotten[:MOST_AT_ONCE]
        if not lines:
            return Restored(restored=restored)
        stored = await self._longterm.get(tenant, [line.id for line in lines])

        def edit(identifier: str, entry: Record | Memory | None) -> Record | Memory:
            if entry is None:
                raise AssertionError(f"{identifier} was planned at a version, so it exists")
            # Whoever undoes it says that it still holds, so what made it due is lifted.
            life = {"state": _state_before(entry), "purge_after": None, "valid_until": None, "kept_at": at}
            return entry.changed(**life)

        await self._door.change(
            tenant,
            operation=f"restore:{run}",
            expected={
                identifier: entry.version for identifier, entry in stored.items() if entry.state is State.FORGOTTEN
            },
            edit=edit,
            vectors={},
        )
        await self._mirror.append(tenant, RestorationLine(ids=tuple(line.id for line in lines), run=run, at=at))
        await self._deletions.write(tenant, [line.changed(restored_at=at) for line in lines])
        return Restored(restored=restored + len(lines), more=len(forgotten) > len(lines))

    async def _log(self, forgetting: Forgetting, *, run: str) -> None:
        ids = [item.id for item in forgetting.tombstone]
        stored = await self._longterm.get(forgetting.tenant, ids)
        written = await self._deletions.of(forgetting.tenant, ids)
        lines = [
            Deletion(
                id=item.id,
                at=forgetting.at,
                reason=item.reason,
                run=run,
                occurrences=stored[item.id].occurrences,
            )
            for item in forgetting.tombstone
            # A second attempt of the same run finds its line, and keeps it.
            if item.id in stored and not (item.id in written and written[item.id].holds(run))
        ]
        await self._mirrored(forgetting.tenant, lines)
        await self._deletions.write(forgetting.tenant, lines)

    async def _take_back(self, forgetting: Forgetting, *, run: str) -> None:
        """Strike from the log what it says of entries that were not forgotten: else they could not be seen again."""
        tenant, ids = forgetting.tenant, [item.id for item in forgetting.tombstone]
        stored = await self._longterm.get(tenant, ids)
        lines = [
            line
            for line in (await self._deletions.of(tenant, ids)).values()
            if line.holds(run) and line.id in stored and stored[line.id].state is not State.FORGOTTEN
        ]
        if lines:
            kept = RestorationLine(ids=tuple(line.id for line in lines), run=run, at=forgetting.at)
            await self._mirror.append(tenant, kept)
            await self._deletions.write(tenant, [line.changed(restored_at=forgetting.at) for line in lines])

    async def _mirrored(self, tenant: str, lines: Sequence[Deletion]) -> None:
        for line in lines:
            gone = DeletionLine(ids=(line.id,), reason=line.reason, at=line.at, occurrences=line.occurrences)
            await self._mirror.append(tenant, gone)


def _state_before(entry: Record | Memory) -> State:
    return State.SUPERSEDED if isinstance(entry, Memory) and entry.superseded_by else State.CURRENT
