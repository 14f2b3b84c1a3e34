"""Each component of an installation as this process sees it: reachable or not, since when, how quickly it answers."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Self

import httpx2
from redis.asyncio import Redis

from perdure.errors import PerdureError, StoreUnavailable, WorkerUnavailable
from perdure.model import Instant, Model
from perdure.settings import Addresses
from perdure.stores.redis.connection import ask

ANSWERS_WITHIN = 2.0
"""Seconds after which a component counts as unreachable; a choice. Each answers in milliseconds."""


class Component(StrEnum):
    """What an installation consists of, besides the process that asks."""

    TEMPORAL = "temporal"
    WORKER = "worker"
    REDIS = "redis"
    WEAVIATE = "weaviate"


class ComponentState(Model):
    """A component as it was found."""

    component: Component
    reachable: bool
    since: Instant
    """Since when it has been so, as far as the process that answers has seen."""
    latency_ms: float | None = None
    """How long its answer took; None: there was none."""
    problem: str = ""

    def after(self, before: Self | None) -> Self:
        """Return the state, which holds since the state before it did if the two agree."""
        same = before is not None and before.reachable == self.reachable
        return self.changed(since=before.since) if before is not None and same else self


class Components:
    """Asks the components, and remembers since when each is as it is.

    Args:
        addresses: Where the servers are.
        redis: A connection to Redis.
        temporal: Asks Temporal.
        workers: Returns how many workers serve the task queue.
    """

    def __init__(
        self,
        addresses: Addresses,
        redis: Redis,
        *,
        temporal: Callable[[], Awaitable[object]],
        workers: Callable[[], Awaitable[int]],
    ) -> None:
        key = addresses.weaviate_api_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        self._web = httpx2.AsyncClient(headers=headers, timeout=ANSWERS_WITHIN, trust_env=False)
        self._weaviate = f"{addresses.weaviate_url}/v1/.well-known/ready"
        self._redis = redis
        self._workers = workers
        self._asks: Mapping[Component, Callable[[], Awaitable[object]]] = {
            Component.TEMPORAL: temporal,
            Component.WORKER: self._ask_workers,
            Component.REDIS: self._ask_redis,
            Component.WEAVIATE: self._ask_weaviate,
        }
        self._seen: dict[Component, ComponentState] = {}

    async def states(self) -> list[ComponentState]:
        """Ask every component at once, and return how each is."""
        found = await asyncio.gather(*(self._state(one, asks) for one, asks in self._asks.items()))
        for state in found:
            self._seen[state.component] = state.after(self._seen.get(state.component))
        return [self._seen[one] for one in self._asks]

    async def close(self) -> None:
        """Close the connection to Weaviate."""
        await self._web.aclose()

    async def _state(self, component: Component, asks: Callable[[], Awaitable[object]]) -> ComponentState:
        began, problem = time.perf_counter(), ""
        try:
            async with asyncio.timeout(ANSWERS_WITHIN):
                await asks()
        except TimeoutError:
            problem = f"no answer within {ANSWERS_WITHIN:.0f} s"
        except PerdureError as error:
            problem = str(error)
        latency = None if problem else round((time.perf_counter() - began) * 1000, 2)
        now = datetime.now(UTC)
        return ComponentState(
            component=component, reachable=not problem, since=now, latency_ms=latency, problem=problem
        )

    async def _ask_workers(self) -> None:
        if not await self._workers():
            raise WorkerUnavailable("none serves the task queue: start one with 'perdure worker'")

    async def _ask_redis(self) -> None:
        await ask(self._redis, "PING")

    async def _ask_weaviate(self) -> None:
        try:
            answer = await self._web.get(self._weaviate)
        except httpx2.HTTPError as error:
            raise StoreUnavailable("weaviate", type(error).__name__) from error
        if not answer.is_success:
            raise StoreUnavailable("weaviate", f"is not ready: {answer.status_code}")
