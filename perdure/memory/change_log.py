"""What the journal and the deletion log record of changes: before they are made, and after."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from perdure.crashpoints import CrashPoint, reached
from perdure.stores.journal.lines import Changed, Forgotten, Line, Settled
from perdure.stores.journal.log import Journal
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.leases import Lease
from perdure.values.changes import Change, Deletion, Refusal
from perdure.values.entries import Entry, State


class ChangeLog:
    """Both logs of the door, written in one order: first the journal, then the deletion log.

    Every method raises StoreUnavailable if one of them cannot be written.
    """

    def __init__(self, journal: Journal, deletions: Deletions) -> None:
        self._journal = journal
        self._deletions = deletions

    async def announce(
        self,
        tenant: str,
        lease: Lease,
        changes: Sequence[Change],
        written: Sequence[Entry],
        deletions: Sequence[Deletion],
    ) -> None:
        """Write down what is about to be written to the store.

        Args:
            tenant: Whose.
            lease: The tenant's.
            changes: What is changed.
            written: Each entry as it will be.
            deletions: What is about to be forgotten.
        """
        known = await self._deletions.of(tenant, [line.id for line in deletions])
        # A second attempt of the same sweep finds its lines, and keeps them.
        new = [line for line in deletions if line.id not in known or not known[line.id].holds(line.sweep)]
        now = datetime.now(UTC)
        lines = [
            Changed(entry=entry, operation=change.operation, by=change.by, why=change.why, note=change.note, at=now)
            for change, entry in zip(changes, written, strict=True)
        ]
        await self.write(tenant, lease, new, *lines)
        if deletions:
            reached(CrashPoint.FORGET_LOGGED)
        reached(CrashPoint.CHANGE_JOURNALED)

    async def withdraw(
        self, tenant: str, lease: Lease, deletions: Sequence[Deletion], stored: Mapping[str, Entry]
    ) -> None:
        """Undo deletions of entries that were not forgotten: otherwise they could not be observed again.

        Args:
            tenant: Whose.
            lease: The tenant's.
            deletions: What was announced.
            stored: Those of their entries that are stored.
        """
        announced = {line.id: line for line in deletions}
        lines = [
            line.changed(restored_at=announced[line.id].at)
            for line in (await self._deletions.of(tenant, [*announced])).values()
            if line.holds(announced[line.id].sweep)
            and line.id in stored
            and stored[line.id].state is not State.FORGOTTEN
        ]
        await self.write(tenant, lease, lines)

    async def settle(
        self,
        tenant: str,
        lease: Lease,
        operation: str,
        versions: Mapping[str, int],
        *,
        refused: Sequence[Refusal],
        deletions: Sequence[Deletion],
    ) -> None:
        """Write down that an operation is done: which versions it made, and what it refused."""
        await self.write(tenant, lease, deletions, *([_settled(operation, versions, refused)] if operation else []))

    async def refuse(self, tenant: str, operation: str, refused: Sequence[Refusal], epoch: int | None) -> None:
        """Write down that an operation is done and made nothing; no lease is held.

        Args:
            tenant: Whose.
            operation: Its id.
            refused: What it refused.
            epoch: The tenant's epoch when it was accepted; None: not known.
        """
        await self._journal.append(tenant, [_settled(operation, {}, refused)], epoch=epoch)

    async def write(self, tenant: str, lease: Lease, deletions: Sequence[Deletion], *lines: Line) -> None:
        """Append to the journal, and then to the deletion log.

        Raises:
            TenantErased: The tenant was erased since the lease was taken.
            LeaseLost: The lease ran out before the deletion log was written.
        """
        forgotten = [Forgotten(deletion=line) for line in deletions]
        await self._journal.append(tenant, [*forgotten, *lines], epoch=lease.epoch)
        await self._deletions.write(tenant, deletions, lease)


def _settled(operation: str, versions: Mapping[str, int], refused: Sequence[Refusal]) -> Settled:
    return Settled(operation=operation, versions=dict(versions), refused=tuple(refused), at=datetime.now(UTC))
