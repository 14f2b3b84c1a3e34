"""Exactly-once writes to long-term memory: under a lease, at an expected version, recognised by an operation id."""

from collections.abc import Callable, Mapping, Sequence

from perdure.crashpoints import CrashPoint, reached
from perdure.entries import OPERATIONS_KEPT, Memory, Record, State
from perdure.errors import VersionConflict
from perdure.memory.retention import RetentionRules
from perdure.models.embedding import Vector
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.leases import Lease, Leases
from perdure.stores.weaviate.store import LongTerm

Edit = Callable[[str, Record | Memory | None], Record | Memory]
"""From an id and what is stored under it, what shall be stored: absolute values, never increments."""

_CHUNK = 50
"""Objects a write call; the lease is asked again before each."""


class Door:
    """The only writer of long-term memory."""

    def __init__(
        self, *, longterm: LongTerm, leases: Leases, due: DueIndex, rules: RetentionRules, client_timeout: float
    ) -> None:
        """Wire the door.

        Args:
            longterm: The store.
            leases: One writer a tenant.
            due: Where the next due date of a tenant is kept.
            rules: What dates the entries.
            client_timeout: The longest that one call to the store may take, in seconds. A write starts
                only while the lease has twice that to live.
        """
        self._longterm = longterm
        self._leases = leases
        self._due = due
        self._rules = rules
        self._margin = 2 * client_timeout

    async def change(
        self, tenant: str, *, operation: str, expected: Mapping[str, int], edit: Edit, vectors: Mapping[str, Vector]
    ) -> dict[str, int]:
        """Change what is stored under some ids, once, however often this is called with one operation.

        Args:
            tenant: Whose memories.
            operation: The id of this change. An object that carries it has had the change already.
            expected: For each id the version that it must still have; 0: it must not exist.
            edit: Gives what shall be stored; returning what it was given leaves it alone.
            vectors: The vectors of entries that are new or whose text changes.

        Returns:
            The version of each id afterwards.

        Raises:
            VersionConflict: Somebody else changed one of them since they were read: plan again.
            LeaseLost: The lease ran out under us; what is written is written and will be recognised.
            StoreUnavailable: Weaviate or Redis does not answer.
        """
        async with self._leases.hold(tenant) as lease:
            reached(CrashPoint.APPLY_LEASED)
            stored = await self._longterm.get(tenant, list(expected))
            versions = {identifier: entry.version for identifier, entry in stored.items()}
            changed: list[Record | Memory] = []
            for identifier, version in expected.items():
                entry = stored.get(identifier)
                if entry is not None and operation in entry.operations:
                    continue
                if (entry.version if entry else 0) != version:
                    raise VersionConflict(f"{identifier} is no longer at version {version}")
                edited = edit(identifier, entry)
                if edited is not entry:
                    changed.append(self._stamped(edited, version, operation))
            await self._write(tenant, lease, changed, vectors)
            reached(CrashPoint.APPLY_WRITTEN)
            await self._index(tenant, [*stored.values(), *changed])
            return versions | {entry.id: entry.version for entry in changed}

    async def remove(self, tenant: str, *, expected: Mapping[str, int]) -> list[str]:
        """Remove for good what is still at its expected version.

        Returns:
            The ids that are gone now; one that changed since it was read stays.
        """
        async with self._leases.hold(tenant) as lease:
            stored = await self._longterm.get(tenant, list(expected))
            gone = [
                identifier
                for identifier, version in expected.items()
                if identifier not in stored or stored[identifier].version == version
            ]
            await lease.require(self._margin)
            await self._longterm.delete(tenant, [identifier for identifier in gone if identifier in stored])
            return gone

    async def reindex(self, tenant: str) -> None:
        """Set the tenant's next due date to what its memories say.

        Raises:
            LeaseLost: The lease ran out under us; nothing is set.
        """
        async with self._leases.hold(tenant) as lease:
            moment = await self._longterm.next_due(tenant)
            # Whoever slept past the lease would erase what another writer has made due since.
            await lease.require(self._margin)
            await self._due.set(tenant, moment)

    def _stamped(self, entry: Record | Memory, version: int, operation: str) -> Record | Memory:
        operations = (*entry.operations, operation)[-OPERATIONS_KEPT:]
        stamped = entry.changed(version=version + 1, operations=operations)
        return self._rules.dated(stamped) if stamped.state is State.CURRENT else stamped

    async def _write(
        self, tenant: str, lease: Lease, entries: Sequence[Record | Memory], vectors: Mapping[str, Vector]
    ) -> None:
        for chunk in (entries[start : start + _CHUNK] for start in range(0, len(entries), _CHUNK)):
            await lease.require(self._margin)
            await self._longterm.put(tenant, chunk, vectors)
            reached(CrashPoint.APPLY_HALF_WRITTEN)

    async def _index(self, tenant: str, entries: Sequence[Record | Memory]) -> None:
        dates = [
            date
            for entry in entries
            if (date := entry.purge_after if entry.state is State.FORGOTTEN else entry.forget_after) is not None
        ]
        if dates:
            await self._due.lower(tenant, min(dates))
