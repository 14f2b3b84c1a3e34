"""The heads of the audit's chains, except those that a line of another chain holds."""

from collections.abc import Sequence
from typing import NamedTuple

from redis.asyncio import Redis

from perdure.stores.audit.lines import AuditHead
from perdure.stores.redis import keys
from perdure.stores.redis.connection import Script, ask

# In one step with the own head, after which the others are on: one of them that has grown meanwhile stays.
_PUBLISH = """
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
for place = 3, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[place]) == ARGV[place + 1] then redis.call('HDEL', KEYS[1], ARGV[place]) end
end
return 1
"""


_FORMAT = 1
"""The form of a head, its last word; a build reads the words that it knows of any form."""


class KnownHead(NamedTuple):
    """A head that Redis knows."""

    head: AuditHead
    news: bool
    """Whether it stands for more than what other chains said of their own heads."""

    def __str__(self) -> str:
        """Return the field's value."""
        return f"{self.head.line} {self.head.mac} {int(self.news)} {_FORMAT}"


class AuditHeads:
    """Every method raises StoreUnavailable when Redis does not answer.

    Args:
        redis: A client made with ``connect``.
        key: The hash.
    """

    def __init__(self, redis: Redis, key: str = keys.AUDIT) -> None:
        self._redis = redis
        self._key = key
        self._publish = Script(redis, _PUBLISH)

    async def all(self) -> list[KnownHead]:
        """Return the heads."""
        found: dict[str, str] = await ask(self._redis, "HGETALL", self._key)
        known: list[KnownHead] = []
        for file, text in found.items():
            line, mac, news = text.split(" ")[:3]
            known.append(KnownHead(AuditHead(file=file, line=int(line), mac=mac), news == "1"))
        return known

    async def publish(self, own: KnownHead, held: Sequence[KnownHead]) -> None:
        """Keep a chain's head, and remove those that its lines hold now."""
        others = (text for one in held for text in (one.head.file, str(one)))
        await self._publish([self._key], own.head.file, str(own), *others)

    async def forget(self, files: Sequence[str]) -> None:
        """Remove the heads of chains that are removed on purpose."""
        if files:
            await ask(self._redis, "HDEL", self._key, *files)
