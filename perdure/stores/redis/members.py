"""Who belongs to a team or an agent, and in which lists a user stands."""

from collections.abc import Iterable

from redis.asyncio import Redis

from perdure.memberships import Membership
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask


class RedisMembers:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def one(self, owner: str, member: str) -> Membership | None:
        """Return what was said last of one user, in the same time whether or not there is such an owner."""
        found = await ask(self._redis, "HGET", keys.members(owner), member)
        return Membership.model_validate_json(found) if found else None

    async def all(self, owner: str) -> dict[str, Membership]:
        """Return what was said last of each user, by the user's tenant."""
        found: dict[str, str] = await ask(self._redis, "HGETALL", keys.members(owner))
        return {member: Membership.model_validate_json(line) for member, line in found.items()}

    async def write(self, owner: str, memberships: Iterable[Membership]) -> None:
        """Keep what was said, in place of what was said before."""
        for one in memberships:
            await ask(self._redis, "HSET", keys.members(owner), one.member, one.model_dump_json())

    async def strike(self, owner: str, member: str) -> None:
        """Remove all that is said of a user."""
        await ask(self._redis, "HDEL", keys.members(owner), member)

    async def named(self, user: str) -> set[str]:
        """Return the tenants in whose lists a user may be named."""
        return set(await ask(self._redis, "SMEMBERS", keys.named(user)))

    async def name(self, user: str, owners: Iterable[str]) -> None:
        """Note that a user may be named in these lists, before they are."""
        for owner in owners:
            await ask(self._redis, "SADD", keys.named(user), owner)
