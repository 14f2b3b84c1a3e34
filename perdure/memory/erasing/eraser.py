"""Erases all that the stores have of a user, proves it, and removes again what an older copy of a store brings back.

The epoch comes first, in every store: from then on nothing that was accepted before is written. In Redis it rises once
more when the stores are emptied: nothing that was read before is written either.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, Protocol

from redis.asyncio import Redis

from perdure.changes import Actor
from perdure.crashpoints import CrashPoint, reached
from perdure.erasures import Erasure, highest
from perdure.errors import StoreUnavailable
from perdure.losses import Store
from perdure.memory.auditing.audit import Audit
from perdure.memory.membership import MemberBook
from perdure.stores.journal.log import Journal
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.holdings import Holdings, holdings
from perdure.stores.redis.leases import Leases
from perdure.stores.spool import Spool
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together


class Erasures(Protocol):
    """The erasures that one store knows of."""

    async def all(self) -> dict[str, Erasure]:
        """Return the latest erasure of each user."""
        ...

    async def add(self, erasure: Erasure) -> None:
        """Keep an erasure, unless a later one of the same user is kept."""
        ...


class Removed(NamedTuple):
    """What was removed of a user."""

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
        audit: Is told of every erasure, and keeps what it was told before.
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
    ) -> None:
        self._longterm = longterm
        self._redis = redis
        self._journal = journal
        self._spool = spool
        self._members = members
        self._leases = leases
        self._logs = logs
        self._audit = audit

    async def begin(self, tenant: str, *, operation: str, by: Actor, at: datetime) -> Erasure:
        """Raise a user's epoch in every store; the same operation raises it once.

        Raises:
            StoreUnavailable: A store does not answer; the others may have it already.
        """
        known = await self._latest(tenant)
        if known is None or known.operation != operation:
            epoch = max(known.epoch if known else 0, await self._leases.epoch(tenant)) + 1
            known = Erasure(tenant=tenant, epoch=epoch, at=at, operation=operation)
        # The journal first: it keeps what the other two may lose.
        for store in (Store.JOURNAL, Store.REDIS, Store.WEAVIATE):
            await self._logs[store].add(known)
            reached(CrashPoint.ERASE_RAISED)
        await self._audit.changed(tenant, {"erased": ()}, operation=operation, by=by, again=True)
        return known

    async def remove(self, tenant: str) -> Removed:
        """Remove everything that the stores have of a user but the erasure itself.

        Raises:
            LeaseLost: Another writer holds the tenant; call it again.
            StoreUnavailable: A store does not answer; call it again.
        """
        # A writer that was on its way has ended once the lease is ours, and the next one is refused by its epoch.
        async with self._leases.hold(tenant):
            # Whoever has read under the epoch of ``begin`` what goes now must not write it back.
            await ask(self._redis, "INCR", keys.epoch(tenant))
            entries = len(await self._longterm.everything(tenant))
            await self._longterm.drop_tenant(tenant)
            reached(CrashPoint.ERASE_DROPPED)
            await self._spool.erase(tenant)
            await self._members.retire(tenant)
            # First, while the user's own journal and keys still tell which lists name them.
            await self._members.strike(tenant)
            await self._journal.erase(tenant)
            reached(CrashPoint.ERASE_JOURNAL)
            held = await holdings(self._redis, tenant)
            await self._remove_keys(tenant, held)
            # A copy that was taken since ``begin`` knows of the erasure, and has what it has removed by now.
            begun = await self._latest(tenant)
            if begun is not None:
                await together(*(log.add(begun.changed(removed=True)) for log in self._logs.values()))
        return Removed(entries, len(_content(held, tenant)))

    async def end(self, tenant: str) -> None:
        """Forget what an erasure that is proved had to know itself: who may erase a team again, who wrote last."""
        await self._members.end_erasure(tenant)
        await ask(self._redis, "DEL", keys.writer(tenant))

    async def left(self, tenant: str) -> tuple[str, ...]:
        """Return what is left of a user in the stores, read anew; empty: nothing."""
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
        """Have every store know of every erasure, and remove what one that did not know still has of its user.

        A store that was set back to an older copy has what was erased since.

        Returns:
            How many users something was removed of.

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
        for key in _content(held, tenant):
            await ask(self._redis, "DEL", key)
        for key in held.shared:
            match key:
                case keys.DUE | keys.CHECKS | keys.ACTIVE | keys.ACCESSED | keys.PROMOTING | keys.CHANGED:
                    await ask(self._redis, "ZREM", key, tenant)
                case keys.UNFILED:
                    await ask(self._redis, "ZREMRANGEBYLEX", key, f"[{tenant} ", f"({tenant}!")
                case _:
                    await ask(self._redis, "SREM", key, tenant)
        await ask(self._redis, "DEL", keys.index(tenant), keys.runs(tenant))

    async def _latest(self, tenant: str) -> Erasure | None:
        return highest(one for log in await self._known() for one in log.values()).get(tenant)

    async def _known(self) -> list[dict[str, Erasure]]:
        return list(await together(*(log.all() for log in self._logs.values())))


def _content(held: Holdings, tenant: str) -> list[str]:
    """Return the keys that hold something of a user.

    These are all but the epoch, the lease of whoever removes them and of who was refused last, and who may erase a
    team again until it is proved.
    """
    kept = {keys.epoch(tenant), keys.lease(tenant), keys.writer(tenant), keys.former(tenant)}
    return [key for key in held.keys if key not in kept]


def require_nothing_left(left: tuple[str, ...]) -> None:
    """Check that an erasure has left nothing.

    Raises:
        StoreUnavailable: Something was written meanwhile, or is not gone yet: erase again.
    """
    if left:
        raise StoreUnavailable("erasure", f"there are {', '.join(left)}")
