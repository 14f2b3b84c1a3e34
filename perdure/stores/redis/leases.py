"""A short lease on a tenant, so that one writer at a time changes its memories; and the tenant's epoch.

It is renewed for as long as its holder's event loop runs, up to a bound: a holder may read a large journal under it, or
wait for a slow model. A holder that is stopped or killed renews nothing, and a lease that has run out is never renewed,
even where nobody else has taken it since.

Decides nothing else. The epoch is an integer that each erasure of the tenant raises: what was accepted or read under an
older one may no longer be written.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from perdure.errors import LeaseLost, StoreLost, StoreRefused, StoreUnavailable, TenantErased, VersionConflict
from perdure.refusals import ContentRefused
from perdure.stores.redis import keys
from perdure.stores.redis.clocks import BOOT_CLOCK
from perdure.stores.redis.connection import Script, ask
from perdure.values.erasures import ErasedMeanwhile

LEASE_SECONDS = 10.0
"""Long enough for the margin that writes ask for, with two renewals that may be late; short enough to be waited out
after a holder was killed."""

HELD_AT_MOST = 300.0
"""Seconds after which a lease is no longer renewed, so that a holder that hangs does not keep others away for good. A
choice: a journal of 60,000 memories is read in 4 s on an idle machine (measured), and what waits is tried again. It is
well below ``WRITER_KEPT``."""

_RENEWALS = 3
"""In one life of a lease, so that two may be late or lost; a choice."""

SHORT_WRITE = 5.0
"""Seconds of a lease that must be left before a few lines are appended to the journal (some ms measured); a choice."""

WRITER_KEPT = 600.0
"""Seconds for which the last writer is known; a choice: longer than anybody relies on it."""

_FIELDS = 1000
"""Arguments of one command: Lua cannot unpack more than some 8,000."""

# The client repeats what it got no answer to, so a lease that is ours already is taken again.
_TAKE = """
local taken
if redis.call('get', KEYS[1]) == ARGV[1] then taken = redis.call('pexpire', KEYS[1], ARGV[2])
else taken = redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) end
if taken then redis.call('set', KEYS[4], ARGV[1], 'PX', ARGV[3]) end
return {taken and 1 or 0, redis.call('get', KEYS[2]) or '0', redis.call('exists', KEYS[3])}
"""
# One that has run out is gone: it is not brought back, since another holder may have come and gone meanwhile.
_LEFT = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return -1 end
if ARGV[2] ~= '0' then redis.call('pexpire', KEYS[1], ARGV[2]) end
return redis.call('pttl', KEYS[1])
"""
# What a process that slept past its lease still sends is refused by Redis itself.
_WRITE = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call(ARGV[2], KEYS[2], unpack(ARGV, 3))
return 1
"""
# Also whose lease has run out meanwhile may have written until now.
_DROP = """
redis.call('set', KEYS[2], ARGV[1] .. ':ended', 'PX', ARGV[2])
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0
"""


class Fence:
    """The moment, by the clock of this machine, up to which a write may be sent under a lease."""

    def __init__(self, until: float) -> None:
        self._until = until

    def __call__(self) -> None:
        """Check that the moment has not passed.

        Raises:
            LeaseLost: It has: the process slept, or was held up.
        """
        if (late := time.clock_gettime(BOOT_CLOCK) - self._until) > 0:
            raise LeaseLost(f"the write comes {late:.1f} s too late for the lease that it was planned under")


class Lease:
    """A lease that is held; ask it before every write whether enough of it is left."""

    def __init__(
        self, left: Script, write: Script, *, key: str, token: str, seconds: float, epoch: int, rewriting: bool
    ) -> None:
        self._left = left
        self._write = write
        self._key = key
        self._token = token
        self._seconds = seconds
        self._renewed_until = time.clock_gettime(BOOT_CLOCK) + HELD_AT_MOST
        self.epoch = epoch
        """The tenant's epoch when the lease was taken."""
        self.rewriting = rewriting
        """Whether an earlier holder died while it wrote entries anew, which may be missing until they are restored."""

    def require_epoch(self, epoch: int | None) -> None:
        """Make sure that the tenant was not erased since its epoch was this one; None: since now.

        Raises:
            TenantErased: It was.
        """
        if epoch is not None and epoch < self.epoch:
            raise TenantErased("the user's memory was erased after this was accepted")

    async def require(self, seconds: float) -> Fence:
        """Renew the lease, make sure that it is ours for a while, and return what makes sure of half of that later.

        The fence is asked where a write is sent: a process may sleep between the two. It does not move when the lease
        is renewed afterwards.

        Args:
            seconds: How long at least; a writer asks for twice its client's time-out, so that a write
                which the client has given up on still lands under the lease.

        Raises:
            LeaseLost: It has run out, or has too little left as it was held for too long to be renewed.
            StoreUnavailable: Redis does not answer.
        """
        asked_at = time.clock_gettime(BOOT_CLOCK)
        left = await self._renewed()
        if left < seconds:
            raise LeaseLost(f"{max(left, 0):.1f} s of the lease are left and {seconds:.1f} s are needed")
        return Fence(asked_at + left - seconds / 2)

    async def keep(self) -> None:
        """Renew the lease again and again, until it has run out or was held for as long as one may be."""
        while time.clock_gettime(BOOT_CLOCK) < self._renewed_until:
            await asyncio.sleep(self._seconds / _RENEWALS)
            # Redis may be back before the lease has run out.
            with contextlib.suppress(StoreUnavailable, StoreRefused):
                if await self._renewed() < 0:
                    return

    async def _renewed(self) -> float:
        """Renew the lease unless it was held for too long; return the seconds that it has left, below 0 for none."""
        may_be = time.clock_gettime(BOOT_CLOCK) < self._renewed_until
        return await self._left([self._key], self._token, int(self._seconds * 1000) if may_be else 0) / 1000

    async def write(self, command: str, key: str, *arguments: str) -> None:
        """Run a command on one of the tenant's keys, in Redis only while the lease is ours.

        Args:
            command: One that takes any number of fields or members, and can be repeated: ``HSET``, say.
            key: The tenant's key.
            arguments: The rest of the command; nothing is done where there is none.

        Raises:
            LeaseLost: It is another's, or has run out.
            StoreUnavailable: Redis does not answer.
        """
        for start in range(0, len(arguments), _FIELDS):
            chunk = arguments[start : start + _FIELDS]
            if not await self._write([self._key, key], self._token, command, *chunk):
                raise LeaseLost("the lease has run out before everything was written")


class Leases:
    """The leases of all tenants, in Redis."""

    def __init__(self, redis: Redis, *, seconds: float = LEASE_SECONDS, patience: float = LEASE_SECONDS + 5) -> None:
        """Use a Redis.

        Args:
            redis: A client made with ``connect``.
            seconds: How long a lease lasts when its holder dies or is stopped.
            patience: How long to wait for another holder, in seconds.
        """
        self._redis = redis
        self._take = Script(redis, _TAKE)
        self._left = Script(redis, _LEFT)
        self._write = Script(redis, _WRITE)
        self._drop = Script(redis, _DROP)
        self._seconds = seconds
        self._patience = patience

    @asynccontextmanager
    async def hold(self, tenant: str, *, epoch: int | None = None) -> AsyncGenerator[Lease]:
        """Hold the lease on a tenant, waiting for another holder if there is one.

        It is renewed until the block ends. What takes long in the block has to leave the event loop free, as a journal
        does that is read and folded in threads.

        It is given back after a clean end only. After a timeout or a cancellation a write may still be on its way to
        the store, so the lease runs out instead: nobody else writes before that write has landed.

        Args:
            tenant: Whose lease.
            epoch: The tenant's epoch when what is to be written was accepted or read; None: it is read under the lease.

        Raises:
            TenantErased: The tenant was erased after that.
            LeaseLost: Another holder kept it for longer than the patience.
            StoreUnavailable: Redis does not answer.
        """
        key, token = keys.lease(tenant), secrets.token_hex(16)
        deadline = asyncio.get_running_loop().time() + self._patience
        while True:
            taken, now, rewriting = await self._take(
                [key, keys.epoch(tenant), keys.rewrites(tenant), keys.writer(tenant)],
                token,
                int(self._seconds * 1000),
                int(WRITER_KEPT * 1000),
            )
            if taken:
                break
            if asyncio.get_running_loop().time() > deadline:
                raise LeaseLost(f"another writer has held the tenant's lease for {self._patience:.0f} s")
            await asyncio.sleep(0.02)
        lease = Lease(
            self._left,
            self._write,
            key=key,
            token=token,
            seconds=self._seconds,
            epoch=int(now),
            rewriting=bool(rewriting),
        )
        try:
            lease.require_epoch(epoch)
            async with _kept(lease):
                yield lease
        except (VersionConflict, ContentRefused, TenantErased, ErasedMeanwhile, LeaseLost, StoreLost):
            await self._give_back(tenant, token)
            raise
        await self._give_back(tenant, token)

    async def _give_back(self, tenant: str, token: str) -> None:
        # When Redis is away by now, the lease expires by itself.
        with contextlib.suppress(StoreUnavailable):
            await self._drop([keys.lease(tenant), keys.writer(tenant)], token, int(WRITER_KEPT * 1000))

    async def writer(self, tenant: str) -> str | None:
        """Return a token of who held the lease last; None: it is held now.

        As long as it stays the same, nothing was written and acknowledged. It is empty where nobody has written for
        ten minutes.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        held, last = await ask(self._redis, "MGET", keys.lease(tenant), keys.writer(tenant))
        return None if held else last or ""

    async def epoch(self, tenant: str) -> int:
        """Return a tenant's epoch, which a change carries from its acceptance on.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return int(await ask(self._redis, "GET", keys.epoch(tenant)) or 0)


@asynccontextmanager
async def _kept(lease: Lease) -> AsyncGenerator[None]:
    """Renew a lease while the block runs."""
    renewing = asyncio.create_task(lease.keep())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait({renewing})
