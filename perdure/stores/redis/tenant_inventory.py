"""What Redis holds of one tenant, found without looking at any other, and its removal."""

from typing import NamedTuple

from redis.asyncio import Redis

from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask

INDEXES = (
    keys.DUE,
    keys.CHECKS,
    keys.WRITTEN,
    keys.ACTIVE,
    keys.ACCESSED,
    keys.PROMOTING,
    keys.CHANGED,
)
"""The installation's sorted sets whose members are tenants; what the others are made from comes first."""

# Every key named here is the tenant's, and so on the same node as its index.
_KEYS = """
local found = {}
local function add(all)
  for _, key in ipairs(all) do
    if redis.call('EXISTS', key) == 1 then found[#found + 1] = key end
  end
end
add(KEYS)
add(redis.call('ZRANGE', KEYS[1], 0, -1))
return found
"""


class Holdings(NamedTuple):
    """What Redis holds of one tenant."""

    keys: tuple[str, ...]
    """The keys that are the tenant's alone."""
    shared: tuple[str, ...]
    """The installation's keys in which the tenant is a member, or part of one: due dates, checks, active tenants,
    uses, promotions, values without a file, sweeps."""


async def holdings(redis: Redis, tenant: str) -> Holdings:
    """Return everything that Redis holds of a tenant.

    Raises:
        StoreUnavailable: Redis does not answer.
    """
    own: list[str] = await Script(redis, _KEYS)(keys.fixed(tenant))
    shared = [key for key in INDEXES if await ask(redis, "ZSCORE", key, tenant) is not None]
    if await ask(redis, "ZLEXCOUNT", keys.UNFILED, f"[{tenant} ", f"({tenant}!"):
        shared.append(keys.UNFILED)
    for moment in sorted(await ask(redis, "SMEMBERS", keys.DUE_MOMENTS)):
        if await ask(redis, "ZSCORE", keys.due_listed(moment), tenant) is not None:
            shared.append(keys.due_listed(moment))
    for sweep in sorted(await ask(redis, "SMEMBERS", keys.sweeps(tenant))):
        if await ask(redis, "SISMEMBER", keys.swept(sweep), tenant):
            shared.append(keys.swept(sweep))
    return Holdings(tuple(own), tuple(shared))


async def remove(redis: Redis, tenant: str, held: Holdings) -> None:
    """Remove what Redis holds of a tenant, and what lists it.

    Args:
        redis: A client made with ``connect``.
        tenant: The tenant.
        held: What is removed; of its own keys, those that must stay are left out.

    Raises:
        StoreUnavailable: Redis does not answer; call it again.
    """
    for key in held.keys:
        await ask(redis, "DEL", key)
    # Whatever was held: a sweep may have listed the tenant since, and does so no more once it is no longer due.
    for key in INDEXES:
        await ask(redis, "ZREM", key, tenant)
    for moment in await ask(redis, "SMEMBERS", keys.DUE_MOMENTS):
        await ask(redis, "ZREM", keys.due_listed(moment), tenant)
    await ask(redis, "ZREMRANGEBYLEX", keys.UNFILED, f"[{tenant} ", f"({tenant}!")
    for key in held.shared:
        if key.startswith(keys.swept("")):
            await ask(redis, "SREM", key, tenant)
    await ask(redis, "DEL", keys.index(tenant), keys.sweeps(tenant))
