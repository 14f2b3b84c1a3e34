"""Consolidation as activities: find tenants with new memories, find those that say the same, and merge them."""

from dataclasses import dataclass

from temporalio import activity

from perdure.memory.consolidation.consolidator import Consolidator, Duplicates, Pair
from perdure.memory.wholeness import Wholeness
from perdure.model import Instant, Passed
from perdure.names import Activity
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.values.changes import Actor

_PAGE = 100


class ChangedTenant(Passed):
    """A tenant with something new."""

    tenant: str
    token: str
    """The token by which it is removed from the list."""


class Changes(Passed):
    """Who has something new, and since when."""

    tenants: tuple[ChangedTenant, ...] = ()
    since: Instant | None = None


class FindDuplicatesCall(Passed):
    """The input of ``find_duplicates``."""

    tenant: str
    since: Instant | None = None
    after: str = ""
    at: Instant


class MergeCall(Passed):
    """The input of ``merge_duplicates``."""

    tenant: str
    pairs: tuple[Pair, ...]
    operation: str
    by: Actor
    at: Instant


class EndConsolidationCall(Passed):
    """The input of ``end_consolidation``."""

    visited: tuple[ChangedTenant, ...] = ()
    """Tenants whose memories were all looked at."""
    began: Instant | None = None
    """When the pass began, if it has visited everybody."""


@dataclass(frozen=True, kw_only=True)
class ConsolidationActivities:
    """The activities of consolidation and what they need."""

    consolidator: Consolidator
    changed: ChangedTenants
    whole: Wholeness

    @activity.defn(name=Activity.CHANGED_TENANTS)
    async def listed(self) -> Changes:
        """Return who has something new, those that wait longest first."""
        found = await self.changed.tenants(_PAGE)
        tenants = tuple(ChangedTenant(tenant=tenant, token=token) for tenant, token in found)
        return Changes(tenants=tenants, since=await self.changed.since())

    @activity.defn(name=Activity.FIND_DUPLICATES)
    async def find(self, call: FindDuplicatesCall) -> Duplicates:
        """Find memories of a tenant that say the same; only their ids go into history."""
        await self.whole.require()
        return await self.consolidator.find(call.tenant, since=call.since, after=call.after, now=call.at)

    @activity.defn(name=Activity.MERGE_DUPLICATES)
    async def merge(self, call: MergeCall) -> int:
        """Merge what was found, each pair by an operation of its own, so that a retry merges nothing twice."""
        merged = 0
        for pair in call.pairs:
            operation = f"{call.operation}:{pair.first[-12:]}{pair.second[-12:]}"
            merged += await self.consolidator.merge(call.tenant, pair, operation=operation, by=call.by, at=call.at)
        return merged

    @activity.defn(name=Activity.END_CONSOLIDATION)
    async def end(self, call: EndConsolidationCall) -> None:
        """Remove the tenants that the pass has visited from the list, unless they were written to meanwhile."""
        for one in call.visited:
            await self.changed.done(one.tenant, one.token)
        if call.began is not None:
            await self.changed.consolidated(call.began)
