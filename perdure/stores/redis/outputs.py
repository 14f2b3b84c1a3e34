"""Large values of tasks, kept in Redis by their digest so that histories stay small. Decides nothing about them."""

import datetime
import hashlib
import json
from collections import OrderedDict
from typing import cast

from pydantic import JsonValue
from redis.asyncio import Redis
from redis.exceptions import RedisError

from perdure.errors import ResultExpired, StoreUnavailable

CACHE_BYTES = 32_000_000
"""What a process keeps of them in memory: sixteen of the largest."""


class Outputs:
    """Values by digest, one name space for each tenant.

    Args:
        redis: A client with ``decode_responses=True``.
        ttl: How long a value is kept after its last use. It must outlive the tasks that refer to it.
    """

    def __init__(self, redis: Redis, ttl: datetime.timedelta, *, kind: str = "output") -> None:
        self._redis = redis
        self._ttl = ttl
        self._kind = kind
        self._cache: OrderedDict[str, str] = OrderedDict()
        self._cached = 0

    async def keep(self, tenant: str, encoded: str) -> str:
        """Keep a value, given as JSON.

        Returns:
            Its digest.

        Raises:
            StoreUnavailable: When Redis does not answer.
        """
        reference = hashlib.sha256(encoded.encode()).hexdigest()
        key = f"perdure:{self._kind}:{{{tenant}}}:{reference}"
        try:
            await self._redis.set(key, encoded, px=self._ttl)
        except (RedisError, OSError) as problem:
            raise StoreUnavailable("redis", type(problem).__name__) from problem
        self._remember(key, encoded)
        return reference

    async def get(self, tenant: str, reference: str) -> JsonValue:
        """Give a value back.

        Raises:
            StoreUnavailable: When Redis does not answer.
            ResultExpired: It is no longer kept, so the step that made it has to run again.
        """
        key = f"perdure:{self._kind}:{{{tenant}}}:{reference}"
        encoded = self._cache.get(key)
        if encoded is None:
            try:
                encoded = cast("str | None", await self._redis.getex(key, px=self._ttl))
            except (RedisError, OSError) as problem:
                raise StoreUnavailable("redis", type(problem).__name__) from problem
            if encoded is None:
                raise ResultExpired(f"the value {reference[:12]} was too large for the history and is no longer kept")
            self._remember(key, encoded)
        else:
            self._cache.move_to_end(key)
        return json.loads(encoded)

    def _remember(self, key: str, encoded: str) -> None:
        if key not in self._cache:
            self._cache[key] = encoded
            self._cached += len(encoded)
        while self._cached > CACHE_BYTES:
            self._cached -= len(self._cache.popitem(last=False)[1])
