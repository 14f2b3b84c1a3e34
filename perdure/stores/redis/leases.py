"""A short lease on a tenant, so that one writer at a time changes its memories. Decides nothing else."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from perdure.errors import LeaseLost, StoreUnavailable
from perdure.stores.redis.connection import ask

LEASE_SECONDS = 10.0
"""Long enough for a batch of 100 (under 1 s measured) with the margin that its writes ask for; short enough that
whoever comes after a holder that was killed can wait it out."""

# The client repeats what it got no answer to, so a lease that is ours already is taken again.
_TAKE = """
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end
return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
"""
_LEFT = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pttl', KEYS[1]) end return -1"
_DROP = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


class Lease:
    """A lease that is held; ask it before every write whether enough of it is left."""

    def __init__(self, redis: Redis, key: str, token: str) -> None:
        self._redis = redis
        self._key = key
        self._token = token

    async def require(self, seconds: float) -> None:
        """Make sure that the lease is ours for a while longer.

        Args:
            seconds: How long at least; a writer asks for twice its client's time-out, so that a write
                which the client has given up on still lands under the lease.

        Raises:
            LeaseLost: It is another's, or has too little left.
        """
        left = await ask(self._redis, "EVAL", _LEFT, 1, self._key, self._token) / 1000
        if left < seconds:
            raise LeaseLost(f"{max(left, 0):.1f} s of the lease are left and {seconds:.1f} s are needed")


class Leases:
    """The leases of all tenants, in Redis."""

    def __init__(self, redis: Redis, *, seconds: float = LEASE_SECONDS, patience: float = LEASE_SECONDS + 5) -> None:
        """Use a Redis.

        Args:
            redis: A connection.
            seconds: How long a lease lasts when its holder dies.
            patience: How long to wait for another holder, in seconds.
        """
        self._redis = redis
        self._seconds = seconds
        self._patience = patience

    @asynccontextmanager
    async def hold(self, tenant: str) -> AsyncGenerator[Lease]:
        """Hold the lease on a tenant, waiting for another holder if there is one.

        Raises:
            LeaseLost: Another holder kept it for longer than the patience.
            StoreUnavailable: Redis does not answer.
        """
        key, token = f"perdure:{tenant}:lease", secrets.token_hex(16)
        deadline = asyncio.get_running_loop().time() + self._patience
        while not await ask(self._redis, "EVAL", _TAKE, 1, key, token, int(self._seconds * 1000)):
            if asyncio.get_running_loop().time() > deadline:
                raise LeaseLost(f"another writer has held the tenant's lease for {self._patience:.0f} s")
            await asyncio.sleep(0.02)
        try:
            yield Lease(self._redis, key, token)
        finally:
            # A Redis that is gone by now lets the lease run out by itself.
            await _dropped(self._redis, key, token)


async def _dropped(redis: Redis, key: str, token: str) -> None:
    try:
        await ask(redis, "EVAL", _DROP, 1, key, token)
    except StoreUnavailable:
        return
