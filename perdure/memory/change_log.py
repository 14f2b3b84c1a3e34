"""What the journal and the deletion log record of changes: before they are made, and after."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from perdure.changes import Change, Deletion, Refusal
from perdure.crashpoints import CrashPoint, reached
from perdure.entries import Entry, State
from perdure.stores.journal.lines import Changed, Forgotten, Line, Settled
from perdure.stores.journal.log import Journal
from perdure.stores.redis.deletions import Deletions


class ChangeLog:
    """Both logs of the door, written in one order: first the journal, then the deletion log.

    Every method raises StoreUnavailable if one of them cannot be written.
    """

    def __init__(self, journal: Journal, deletions: Deletions) -> None:
        self._journal = journal
        self._deletions = deletions

    async def announce(
        self, tenant: str, changes: Sequence[Change], written: Sequence[Entry], deletions: Sequence[Deletion]
    ) -> None:
        """Write down what is about to be written to the store.

        Args:
            tenant: Whose.
            changes: What is changed.
            written: Each entry as it will be.
            deletions: What is about to be forgotten.
        """
        known = await self._deletions.of(tenant, [line.id for line in deletions])
        # A second attempt of the same run finds its lines, and keeps them.
        new = [line for line in deletions if line.id not in known or not known[line.id].holds(line.run)]
        now = datetime.now(UTC)
        lines = [
            Changed(entry=entry, operation=change.operation, by=change.by, why=change.why, note=change.note, at=now)
            for change, entry in zip(changes, written, strict=True)
        ]
        await self.write(tenant, new, *lines)
        if deletions:
            reached(CrashPoint.FORGET_LOGGED)
        reached(CrashPoint.CHANGE_JOURNALED)

    async def withdraw(self, tenant: str, deletions: Sequence[Deletion], stored: Mapping[str, Entry]) -> None:
        """Undo deletions of entries that were not forgotten: otherwise they could not be observed again.

        Args:
            tenant: Whose.
            deletions: What was announced.
            stored: Those of their entries that are stored.
        """
        runs = {line.id: line for line in deletions}
        lines = [
            line.changed(restored_at=runs[line.id].at)
            for line in (await self._deletions.of(tenant, [*runs])).values()
            if line.holds(runs[line.id].run) and line.id in stored and stored[line.id].state is not State.FORGOTTEN
        ]
        await self.write(tenant, lines)

    async def settle(
        self,
        tenant: str,
        operation: str,
        versions: Mapping[str, int],
        refused: Sequence[Refusal],
        deletions: Sequence[Deletion] = (),
    ) -> None:
        """Write down that an operation is done: which versions it made, and what it refused."""
        now = datetime.now(UTC)
        settled = Settled(operation=operation, versions=dict(versions), refused=tuple(refused), at=now)
        await self.write(tenant, deletions, *([settled] if operation else []))

    async def write(self, tenant: str, deletions: Sequence[Deletion], *lines: Line) -> None:
        """Append to the journal, and then to the deletion log."""
        await self._journal.append(tenant, [*(Forgotten(deletion=line) for line in deletions), *lines])
        await self._deletions.write(tenant, deletions)
