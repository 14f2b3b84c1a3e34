"""The deletion log: what was forgotten, when and why; without content. It never forgets by itself."""

from collections.abc import Sequence

from redis.asyncio import Redis

from perdure.changes import Deletion
from perdure.stores.redis.connection import ask


class Deletions:
    """The log of every tenant, in Redis hashes without expiry."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def of(self, tenant: str, ids: Sequence[str]) -> dict[str, Deletion]:
        """Give the lines on these ids, as far as there are any."""
        if not ids:
            return {}
        lines: list[str | None] = await ask(self._redis, "HMGET", _key(tenant), *ids)
        return {line.id: line for line in (Deletion.model_validate_json(text) for text in lines if text)}

    async def all(self, tenant: str) -> list[Deletion]:
        """Give the whole log of a tenant, oldest first."""
        lines: list[str] = await ask(self._redis, "HVALS", _key(tenant))
        return sorted(map(Deletion.model_validate_json, lines), key=lambda line: (line.at, line.id))

    async def write(self, tenant: str, deletions: Sequence[Deletion]) -> None:
        """Add lines, or replace those on the same ids."""
        if deletions:
            # The run learns of the tenant first: after a crash in between, whoever finds the lines written
            # would not write again, and undoing the run would pass the tenant over.
            for run in sorted({line.run for line in deletions}):
                await ask(self._redis, "SADD", _run_key(run), tenant)
            lines = (text for line in deletions for text in (line.id, line.model_dump_json()))
            await ask(self._redis, "HSET", _key(tenant), *lines)

    async def tenants_of(self, run: str, *, after: str, limit: int) -> list[str]:
        """Give the tenants of which a run forgot something, in order of their ids.

        Args:
            run: The forgetting run.
            after: The last tenant that was handled.
            limit: How many at most.
        """
        found: list[str] = await ask(self._redis, "SMEMBERS", _run_key(run))
        return sorted(tenant for tenant in found if tenant > after)[:limit]


def _key(tenant: str) -> str:
    return f"perdure:{tenant}:deletions"


def _run_key(run: str) -> str:
    return f"perdure:forgetting:{run}"
