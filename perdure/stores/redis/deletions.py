"""The deletion log: what was forgotten, when and why; without content. It never forgets by itself."""

from collections.abc import Sequence

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.leases import Lease
from perdure.tolerance import read_back
from perdure.values.changes import Deletion


class Deletions:
    """The log of every tenant, in Redis hashes without expiry."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def of(self, tenant: str, ids: Sequence[str]) -> dict[str, Deletion]:
        """Return the lines on these ids, as far as there are any."""
        if not ids:
            return {}
        lines: list[str | None] = await ask(self._redis, "HMGET", keys.deletions(tenant), *ids)
        return {line.id: line for line in (read_back(Deletion, text) for text in lines if text)}

    async def covering(self, tenant: str, ids: Sequence[str]) -> dict[str, Deletion]:
        """Return the deletions of these ids, and of entries of which these ids are other wordings."""
        if not ids:
            return {}
        meant: list[str | None] = await ask(self._redis, "HMGET", keys.wordings(tenant), *ids)
        reworded = {one: of for one, of in zip(ids, meant, strict=True) if of}
        lines = await self.of(tenant, sorted({*ids, *reworded.values()}))
        return {one: lines[of] for one, of in reworded.items() if of in lines} | {
            one: lines[one] for one in ids if one in lines
        }

    async def all(self, tenant: str) -> list[Deletion]:
        """Return the whole log of a tenant, oldest first."""
        lines: list[str] = await ask(self._redis, "HVALS", keys.deletions(tenant))
        return sorted((read_back(Deletion, line) for line in lines), key=lambda line: (line.at, line.id))

    async def write(self, tenant: str, deletions: Sequence[Deletion], lease: Lease) -> None:
        """Add lines, or replace those on the same ids, while the tenant's lease is held.

        Raises:
            LeaseLost: It has run out: a line of a user who was erased meanwhile would stay for good.
            StoreUnavailable: Redis does not answer.
        """
        if deletions:
            # The sweep lists the tenant first: after a crash in between, a retry that finds the lines written
            # would not write again, and undoing the sweep would pass the tenant over.
            sweeps = sorted({line.sweep for line in deletions})
            await lease.write("SADD", keys.sweeps(tenant), *sweeps)
            for sweep in sweeps:
                await ask(self._redis, "SADD", keys.swept(sweep), tenant)
            if wordings := [text for line in deletions for one in line.wordings for text in (one, line.id)]:
                await lease.write("HSET", keys.wordings(tenant), *wordings)
            lines = (text for line in deletions for text in (line.id, line.model_dump_json()))
            await lease.write("HSET", keys.deletions(tenant), *lines)

    async def tenants_of(self, sweep: str, *, after: str, limit: int) -> list[str]:
        """Return the tenants of which a sweep forgot something, in order of their ids.

        Args:
            sweep: The sweep, or the removal.
            after: The last tenant that was handled.
            limit: How many at most.
        """
        found: list[str] = await ask(self._redis, "SMEMBERS", keys.swept(sweep))
        return sorted(tenant for tenant in found if tenant > after)[:limit]
