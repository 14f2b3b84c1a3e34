"""Whose turn it is to sweep. Keeps the name of a sweep; whether that one still runs, others know."""

from redis.asyncio import Redis

from perdure.stores.redis.connection import Script, ask
from perdure.stores.redis.keys import SWEEP

# The client repeats what it got no answer to, so a turn that is the caller's already is taken again.
_TAKE = """
local holder = redis.call('get', KEYS[1]) or ''
if holder ~= ARGV[1] and holder ~= ARGV[2] then return 0 end
redis.call('set', KEYS[1], ARGV[2])
return 1
"""


class SweepTurn:
    """The turn of one installation. It is never given back: it is taken over from a sweep that has ended."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._take = Script(redis, _TAKE)

    async def holder(self) -> str:
        """Return the sweep whose turn it is; empty: there was none yet.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return await ask(self._redis, "GET", SWEEP) or ""

    async def take(self, sweep: str, *, after: str) -> bool:
        """Take the turn over.

        Args:
            sweep: Who takes it.
            after: The holder that has ended.

        Returns:
            Whether it is taken; otherwise another sweep was quicker.

        Raises:
            StoreUnavailable: Redis does not answer.
        """
        return bool(await self._take([SWEEP], after, sweep))
