"""Erases all that the stores have of a user, proves it, and removes again what an older copy of a store brings back.

The epoch comes first, in every store: from then on nothing that was accepted before is written. In Redis it is raised
again when the stores are emptied, so that nothing that was read before is written either.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple, Protocol

from redis.asyncio import Redis

from perdure.crashpoints import CrashPoint, reached
from perdure.memory.audit.audit import Audit
from perdure.memory.clock import machine_time
from perdure.memory.membership import MemberBook
from perdure.stores.journal.log import Journal
from perdure.stores.redis import keys
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.leases import Leases
from perdure.stores.redis.tenant_inventory import Holdings, holdings, remove
from perdure.stores.spool import Spool
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.changes import Actor, is_overtaken
from perdure.values.erasures import Erasure, highest
from perdure.values.losses import Store


class Erasures(Protocol):
    """The erasures that one store knows of."""

    async def all(self) -> dict[str, Erasure]:
        """Return the latest erasure of each user."""
        ...

    async def add(self, erasure: Erasure) -> None:
        """Keep an erasure, unless a later one of the same user is kept."""
        ...


class Standing(Enum):
    """How an erasure stands."""

    GOES_ON = auto()
    ENDED = auto()
    TAKEN_OVER = auto()
    """A later one of the user has begun, and removes what is left."""


class TenantCounts(NamedTuple):
    """How much there is of a user."""

    entries: int
    keys: int


class Eraser:
    """Erases users.

    Args:
        longterm: Where records, memories and turns are.
        redis: Where episodes, claims, outputs and indexes are.
        journal: Where everything was written first.
        spool: Has the episodes that wait for Redis.
        members: The lists of teams and agents that may name a user.
        leases: One writer a tenant.
        logs: The erasures that each store knows of.
        audit: Records every erasure, and keeps its earlier lines.
        client_timeout: Seconds that one call of Weaviate may take.
    """

    def __init__(
        self,
        *,
        longterm: LongTerm,
        redis: Redis,
        journal: Journal,
        spool: Spool,
        members: MemberBook,
        leases: Leases,
        logs: Mapping[Store, Erasures],
        audit: Audit,
        client_timeout: float,
    ) -> None:
        self._longterm = longterm
        self._redis = redis
        self._erasures = RedisErasures(redis)
        self._journal = journal
        self._spool = spool
        self._members = members
        self._leases = leases
        self._logs = logs
        self._audit = audit
        self._margin = 2 * client_timeout

    async def begin(
        self,
        tenant: str,
        *,
        operation: str,
        by: Actor,
        at: datetime,
        asked_at: datetime | None = None,
        now: Callable[[], datetime] = machine_time,
    ) -> Erasure:
        """Raise a user's epoch in every store; the same operation raises it once.

        Args:
            tenant: The user.
            operation: The erasure.
            by: Who asked for it.
            at: When it begins.
            asked_at: When it was asked for; None: just then.
            now: Tells the time, by the same clock.

        Returns:
            The erasure; or, with nothing raised, another one that has begun since this one was asked for. That one
            removes all that this one would, and the user may have come back after it, as after one that has ended.

        Raises:
            StoreUnavailable: A store does not answer; the others may have it already.
        """
        known = await self._latest(tenant)
        if known is not None and known.ended and known.operation == operation:
            return known
        if known is None or known.operation != operation:
            if known is not None and is_overtaken(asked_at or at, now(), by=known.at):
                return known
            epoch = max(known.epoch if known else 0, await self._leases.epoch(tenant)) + 1
            known = Erasure(tenant=tenant, epoch=epoch, at=at, operation=operation)
        # The journal first: it keeps what the other two may lose.
        for store in (Store.JOURNAL, Store.REDIS, Store.WEAVIATE):
            await self._logs[store].add(known)
            reached(CrashPoint.ERASE_RAISED)
        await self._audit.changed(tenant, {"erased": ()}, operation=operation, by=by, again=True)
        return known

    async def count(self, tenant: str) -> TenantCounts:
        """Return how much the stores have of a user.

        Raises:
            StoreUnavailable: A store does not answer; call it again.
        """
        entries, found = await together(self._longterm.total(tenant), holdings(self._redis, tenant))
        return TenantCounts(entries, len(_content(found, tenant)))

    async def standing(self, tenant: str, operation: str) -> Standing:
        """Return how an erasure stands: once it has ended, or a later one has begun, it removes nothing more.

        Raises:
            StoreUnavailable: A store does not answer.
        """
        return _standing(await self._latest(tenant), operation)

    async def remove(self, tenant: str, operation: str) -> None:
        """Remove everything that the stores have of a user but the erasure itself, as long as it goes on.

        Raises:
            LeaseLost: Another writer holds the tenant, or too little of the lease is left; call it again.
            StoreUnavailable: A store does not answer; call it again.
        """
        # An active writer has ended once the lease is ours, and the next one is refused by its epoch.
        async with self._leases.hold(tenant) as lease:
            # Under the lease no other erasure removes anything: what there is may have come after a later one.
            begun = await self._latest(tenant)
            if _standing(begun, operation) is not Standing.GOES_ON:
                return
            # A process that has read under the epoch of ``begin`` what is removed now must not write it back.
            epoch = await self._erasures.advance(tenant)
            # A process that stands still here may wake when another has ended the erasure, and the user is back.
            fence = await lease.require(self._margin)
            await self._longterm.drop_tenant(tenant, fence=fence)
            reached(CrashPoint.ERASE_DROPPED)
            await lease.require(self._margin)
            await self._spool.erase(tenant)
            await self._members.retire(tenant)
            # First, while the user's own journal and keys still tell which lists name them.
            await self._members.strike(tenant)
            await lease.require(self._margin)
            await self._journal.erase(tenant)
            reached(CrashPoint.ERASE_JOURNAL)
            held = await holdings(self._redis, tenant)
            await lease.require(self._margin)
            await self._remove_keys(tenant, held)
            # Where every store was put back to before it began, none knows of it.
            known = begun or Erasure(tenant=tenant, epoch=epoch, at=machine_time(), operation=operation)
            # A copy taken since ``begin`` knows of the erasure, but still has what has been removed by now.
            removed = known.changed(epoch=epoch, removed=True)
            await together(*(log.add(removed) for log in self._logs.values()))

    async def end(self, tenant: str, operation: str) -> None:
        """Note that an erasure is proved, and forget what it needed until then: who may erase a team, who wrote last.

        Raises:
            StoreUnavailable: A store does not answer; call it again.
        """
        await self._members.end_erasure(tenant)
        await self._erasures.end(tenant)
        latest = await self._latest(tenant)
        if latest is not None and latest.operation == operation:
            await together(*(log.add(latest.changed(ended=True)) for log in self._logs.values()))

    async def ended(self) -> list[Erasure]:
        """Return the latest erasure of each user where that was proved.

        Raises:
            StoreUnavailable: A store does not answer; call it again.
        """
        latest = highest(one for log in await self._known() for one in log.values())
        return [one for one in latest.values() if one.ended]

    async def left(self, tenant: str) -> tuple[str, ...]:
        """Return what is left of a user in the stores, read again; empty: nothing."""
        stored, held = await together(self._longterm.tenants(), holdings(self._redis, tenant))
        waited, journaled = await together(self._spool.read(tenant), self._journal.tenants())
        found = {
            "entries in Weaviate": tenant in stored,
            "keys in Redis": bool(_content(held, tenant)),
            "episodes in the spool": bool(waited.episodes),
            "lines in the journal": tenant in journaled,
        }
        return tuple(name for name, is_there in found.items() if is_there)

    async def apply(self) -> int:
        """Record every erasure in every store, and remove the user's data from a store that lacked one.

        A store that was restored from an older copy has what was erased since.

        Returns:
            How many users' data was removed.

        Raises:
            LeaseLost: Another writer holds one of the tenants; call it again.
            StoreUnavailable: A store does not answer; call it again.
        """
        known = dict(zip(self._logs, await self._known(), strict=True))
        removed = 0
        for tenant, erasure in highest(one for log in known.values() for one in log.values()).items():
            behind = [store for store, log in known.items() if tenant not in log or log[tenant].order < erasure.order]
            if not behind:
                continue
            await self._remove_older(tenant, behind)
            for store in behind:
                await self._logs[store].add(erasure)
            removed += 1
        return removed

    async def _remove_older(self, tenant: str, behind: list[Store]) -> None:
        async with self._leases.hold(tenant):
            await self._members.strike(tenant)
            if Store.WEAVIATE in behind:
                await self._longterm.drop_tenant(tenant)
            if Store.JOURNAL in behind:
                await self._journal.erase(tenant)
            if Store.REDIS in behind:
                await self._members.retire(tenant)
                await self._remove_keys(tenant, await holdings(self._redis, tenant))

    async def _remove_keys(self, tenant: str, held: Holdings) -> None:
        await remove(self._redis, tenant, held._replace(keys=_content(held, tenant)))

    async def _latest(self, tenant: str) -> Erasure | None:
        return highest(one for log in await self._known() for one in log.values()).get(tenant)

    async def _known(self) -> list[dict[str, Erasure]]:
        return list(await together(*(log.all() for log in self._logs.values())))


def _standing(latest: Erasure | None, operation: str) -> Standing:
    if latest is not None and latest.operation != operation:
        return Standing.TAKEN_OVER
    return Standing.ENDED if latest is not None and latest.ended else Standing.GOES_ON


def _content(held: Holdings, tenant: str) -> tuple[str, ...]:
    """Return the keys that hold something of a user.

    These are all but the epoch, the leases of the writer that removes them and of the last refused one, and the list of
    those who may erase a team again until it is proved.
    """
    kept = {keys.epoch(tenant), keys.lease(tenant), keys.writer(tenant), keys.former(tenant)}
    return tuple(key for key in held.keys if key not in kept)
