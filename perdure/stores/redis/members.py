"""Who belongs to a team or an agent, and in which lists a user stands."""

from collections.abc import Iterable

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.stores.redis.leases import Lease
from perdure.tolerance import read_back
from perdure.values.memberships import Membership


class RedisMembers:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def one(self, owner: str, member: str) -> Membership | None:
        """Return the latest statement about one user, in the same time whether or not there is such an owner."""
        found = await ask(self._redis, "HGET", keys.members(owner), member)
        return read_back(Membership, found) if found else None

    async def all(self, owner: str) -> dict[str, Membership]:
        """Return the latest statement about each user, by the user's tenant."""
        found: dict[str, str] = await ask(self._redis, "HGETALL", keys.members(owner))
        return {member: read_back(Membership, line) for member, line in found.items()}

    async def write(self, owner: str, memberships: Iterable[Membership], lease: Lease) -> None:
        """Replace the statements about these users, while the owner's lease is held."""
        fields = (text for one in memberships for text in (one.member, one.model_dump_json()))
        await lease.write("HSET", keys.members(owner), *fields)

    async def strike(self, owner: str, member: str, lease: Lease) -> None:
        """Remove the statement about a user, while the owner's lease is held."""
        await lease.write("HDEL", keys.members(owner), member)
        await lease.write("SREM", keys.former(owner), member)

    async def retire(self, owner: str) -> None:
        """Keep who belongs to an owner that is about to be emptied, in place of who did before; nobody: keep those."""
        if found := [one.member for one in (await self.all(owner)).values() if one.belongs]:
            await ask(self._redis, "DEL", keys.former(owner))
            await ask(self._redis, "SADD", keys.former(owner), *found)

    async def belonged(self, owner: str, member: str) -> bool:
        """Return whether a user belonged to an owner whose erasure is not proved, and to whom nobody belongs since."""
        former = await ask(self._redis, "SISMEMBER", keys.former(owner), member)
        return bool(former) and not await self.all(owner)

    async def forget_former(self, owner: str) -> None:
        """Remove who belonged to an owner whose erasure is proved."""
        await ask(self._redis, "DEL", keys.former(owner))

    async def named(self, user: str) -> set[str]:
        """Return the tenants in whose lists a user may be named."""
        return set(await ask(self._redis, "SMEMBERS", keys.named(user)))

    async def name(self, user: str, owners: Iterable[str], lease: Lease) -> None:
        """Note that a user may be named in these lists, before they are, while the user's lease is held."""
        await lease.write("SADD", keys.named(user), *owners)
