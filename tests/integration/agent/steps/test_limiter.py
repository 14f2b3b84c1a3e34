"""Slots that calls take are given back as soon as they are not needed, whatever Redis does meanwhile."""

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from perdure import CallLimit, StoreRefused, Tool, tool
from perdure.agent.steps.attempts import Attempt
from perdure.agent.steps.calls import MARGIN, Acting, StepCall
from perdure.agent.steps.limiter import Limiter
from perdure.errors import StoreUnavailable
from perdure.skills.steps import ToolStep
from perdure.stores.redis import keys
from perdure.stores.redis.call_slots import CallSlots
from perdure.stores.redis.connection import ask, connect
from perdure.values.call_limits import LimitReached
from tests.conftest import Servers

NOW = datetime.now(UTC)


@pytest.fixture
async def redis(servers: Servers) -> AsyncGenerator[Redis]:
    client = connect(servers.redis_url)
    yield client
    await client.aclose()


def limited(*limits: CallLimit) -> Tool[..., Any]:
    @tool(effect="read", timeout=5.0, limits=limits, name=f"t{uuid4().hex}")
    async def act() -> None:
        pass

    return act


def call(tenant: str, timeout: float | None = None) -> StepCall:
    acting = Acting(user="ada", agent="agent", skill="s", task_skill="s", date=NOW.date(), done=0)
    step = ToolStep(id="a", tool="t")
    of: dict[str, Any] = {"tenant": tenant, "session": "s", "task_id": "t", "path": "a", "occurred_at": NOW}
    return StepCall(acting=acting, step=step, timeout=timeout, epoch=0, **of)


def attempt() -> Attempt:
    report: Any = SimpleNamespace(acted=False, arguments="", deadline=None)
    return Attempt(workflow_id="w", owner=uuid4().hex, number=1, scheduled_at=NOW, started_at=NOW, report=report)


async def taken(redis: Redis, tenant: str, this: Tool[..., Any]) -> Sequence[int]:
    """Return how many places are taken at once and in the minute, of all users and of this one."""
    places = [(of, kind) for of in ("", tenant) for kind in ("at_once", "per_minute")]
    return [await ask(redis, "ZCARD", keys.places(of, f"{this.name}:{kind}")) for of, kind in places]


AT_ONCE, A_MINUTE = CallLimit(at_once=1), CallLimit(per_minute=1, per_user=True)


@pytest.mark.slow
async def test_a_call_that_was_made_counts_in_its_minute_and_no_other_does(redis: Redis, tenant: str) -> None:
    limiter, this = Limiter(CallSlots(redis)), limited(AT_ONCE, A_MINUTE)
    async with limiter.within(this, call(tenant), attempt()) as admission:
        assert await taken(redis, tenant, this) == [1, 0, 0, 1]
        admission.is_made = False
    assert await taken(redis, tenant, this) == [0, 0, 0, 0]
    with pytest.raises(ZeroDivisionError):
        async with limiter.within(this, call(tenant), attempt()):
            raise ZeroDivisionError
    assert await taken(redis, tenant, this) == [0, 0, 0, 1]


@pytest.mark.slow
async def test_who_waits_for_a_place_of_their_own_takes_none_of_the_others(redis: Redis, tenant: str) -> None:
    limiter, this = Limiter(CallSlots(redis)), limited(CallLimit(per_minute=5), A_MINUTE)
    async with limiter.within(this, call(tenant), attempt()):
        pass
    with pytest.raises(LimitReached):
        async with limiter.within(this, call(tenant), attempt()):
            pass
    assert await taken(redis, tenant, this) == [0, 1, 0, 1]


async def test_a_place_is_given_back_although_nobody_learned_that_it_was_taken(
    redis: Redis, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, this = CallSlots.take, limited(AT_ONCE)

    async def unheard(self: CallSlots, *given: Any, **more: Any) -> float:
        await take(self, *given, **more)
        raise StoreUnavailable("redis", "no answer in time")

    monkeypatch.setattr(CallSlots, "take", unheard)
    with pytest.raises(StoreUnavailable):
        async with Limiter(CallSlots(redis)).within(this, call(tenant), attempt()):
            pass
    assert await taken(redis, tenant, this) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "error", [StoreUnavailable("redis", "away"), StoreRefused("redis", "no right", fix="grant it")]
)
async def test_what_was_done_stands_although_a_place_cannot_be_given_back(
    redis: Redis, tenant: str, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    release, this, refused = CallSlots.release, limited(AT_ONCE, CallLimit(at_once=1, per_user=True)), [error]

    async def once_refused(self: CallSlots, *given: Any, **more: Any) -> None:
        if refused:
            raise refused.pop()
        await release(self, *given, **more)

    monkeypatch.setattr(CallSlots, "release", once_refused)
    async with Limiter(CallSlots(redis)).within(this, call(tenant), attempt()):
        pass
    assert sum(await taken(redis, tenant, this)) == 1, "the other one is given back"


async def test_a_place_lasts_as_long_as_its_call_may_take(redis: Redis, tenant: str) -> None:
    limiter, this = Limiter(CallSlots(redis)), limited(AT_ONCE)
    async with limiter.within(this, call(tenant, timeout=600.0), attempt()):
        left = await ask(redis, "PTTL", keys.places("", f"{this.name}:at_once"))
    assert 3 * 600 < left / 1000 <= 3 * 600 + MARGIN
